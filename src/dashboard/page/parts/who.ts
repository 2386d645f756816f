import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { HistoryActor, ResourceName } from '#dashboard/page/api/records.ts';
import { addressOfResource } from '#dashboard/page/app/routing/router.ts';
import { useSession } from '#dashboard/page/app/session/session.ts';
import { html } from '#dashboard/page/html.ts';

/** Renders the component again when a name becomes known. */
export function useNames() {
  const { names } = useSession();
  const [, setVersion] = useState(names.version);
  useEffect(() => {
    const update = () => setVersion(names.version);
    // Names may have become known between rendering and now, when there was no listener.
    update();
    return names.onChange(update);
  }, [names]);
  return names;
}

/** Actors without a key: the service (starts and processes) and the command line. */
const withoutKey: Readonly<Record<string, string>> = { system: 'Switchyard', 'local-operator': 'command line' };

/** The actor's name; null for a key. */
export function nameWithoutKey(actor: Pick<HistoryActor, 'keyId' | 'keyType'> | null): string | null {
  return actor === null ? 'Switchyard' : (withoutKey[actor.keyId] ?? null);
}

/** Shows the name of the key if it is known, otherwise the beginning of its id. */
export function ActorName({ actor }: { actor: HistoryActor | null }): VNode {
  const names = useNames();
  const other = nameWithoutKey(actor);
  if (actor === null || other !== null) return html`<span class="faint">${other}</span>`;
  const name = names.of('key', actor.keyId);
  const title = `${actor.keyType} key ${actor.keyId}`;
  return name === null
    ? html`<span class="mono" title=${title}>${actor.keyId.slice(0, 8)}</span>`
    : html`<span title=${title}>${name}</span>`;
}

/** The kinds whose names the page may look up. A version has the name of its flow or template. */
const nameOf: Readonly<Record<string, { readonly kind: string; readonly suffix: number }>> = {
  flow: { kind: 'flow', suffix: 0 },
  'flow-version': { kind: 'flow', suffix: 8 },
  template: { kind: 'template', suffix: 0 },
  'template-version': { kind: 'template', suffix: 8 },
  instance: { kind: 'instance', suffix: 0 },
  'phone-number': { kind: 'phone-number', suffix: 0 },
  'agent-profile': { kind: 'agent-profile', suffix: 0 },
  key: { kind: 'key', suffix: 0 },
  project: { kind: 'project', suffix: 0 },
  store: { kind: 'store', suffix: 0 },
  organization: { kind: 'organization', suffix: 0 },
  customer: { kind: 'organization', suffix: 0 },
};

/**
 * Shows the resource with its name, or its kind and the beginning of its id. It is a link if the resource has a view.
 */
export function ResourceLink({ resource }: { resource: ResourceName }): VNode {
  const names = useNames();
  const { kind, id } = resource;
  const named = nameOf[kind];
  const known = named === undefined ? null : names.of(named.kind, named.suffix === 0 ? id : id.slice(0, -named.suffix));
  const words = kind.replace('-', ' ');
  const text = known ?? `${words} ${named === undefined ? id : id.slice(0, 8)}`;
  const address = addressOfResource(kind, id);
  return address === null
    ? html`<span title=${id}>${text}</span>`
    : html`<a href=${address} title=${`${words} ${id}`}>${text}</a>`;
}
