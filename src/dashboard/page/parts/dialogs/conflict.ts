import type { VNode } from 'preact';
import { getAll } from '#dashboard/page/api/api.ts';
import type { ApiError } from '#dashboard/page/api/api-error.ts';
import type { HistoryEvent } from '#dashboard/page/api/records.ts';
import { useData } from '#dashboard/page/app/data/use-data.ts';
import { useSession } from '#dashboard/page/app/session/session.ts';
import { html } from '#dashboard/page/html.ts';
import { Time } from '#dashboard/page/parts/basics.ts';
import { Notice } from '#dashboard/page/parts/boxes.ts';
import { ActorName } from '#dashboard/page/parts/who.ts';
import { countOf } from '#dashboard/page/text/numbers.ts';

/** A resource as the user has seen it. A change is refused if the resource has another ETag by then. */
export interface SeenResource {
  readonly path: string;
  readonly etag: string | null;
}

const maxHistory = 5_000;

/** True if the resource has changed since the user saw it. */
export function isEditConflict(error: ApiError | null): boolean {
  return error?.status === 412;
}

/** The changes, oldest first; none without an ETag. */
export function changesSince(events: ReadonlyArray<HistoryEvent>, etag: string | null): ReadonlyArray<HistoryEvent> {
  const seen = /^"(\d+)"$/.exec(etag ?? '')?.[1];
  return seen === undefined ? [] : events.filter(({ revision }) => revision > Number(seen));
}

/** Reports the conflict, with a button that loads the resource again. */
export function Conflict(props: { seen: SeenResource; reloadLabel: string; onReload: () => void }): VNode {
  const { api } = useSession();
  const { seen, reloadLabel, onReload } = props;
  const history = useData<ReadonlyArray<HistoryEvent>>(
    `changes of ${seen.path} since ${seen.etag}`,
    { kinds: [] },
    async (signal) => {
      const path = `${seen.path}/history`;
      const { items } = await getAll<HistoryEvent>(api, path, 'events', { maxItems: maxHistory, signal });
      return changesSince(items, seen.etag);
    },
  );
  const button = html`<button type="button" class="btn" onClick=${onReload}>${reloadLabel}</button>`;
  return html`<${Notice} tone="bad" role="alert" action=${button}>
    <strong>Somebody was faster.</strong> ${history.value === null ? 'It was changed meanwhile.' : html`<${Changes} changes=${history.value} />`}
    <span class="small"> Answer 412.</span>
  <//>`;
}

function Changes({ changes }: { changes: ReadonlyArray<HistoryEvent> }): VNode {
  const newest = changes.at(-1);
  if (newest === undefined) return html`It was changed meanwhile.`;
  const earlier = changes.length === 1 ? '' : ` ${countOf(changes.length - 1, 'earlier change')} came with it.`;
  return html`<${ActorName} actor=${newest.actor} />, <${Time} at=${newest.time} />: ${newest.summary}${earlier}`;
}
