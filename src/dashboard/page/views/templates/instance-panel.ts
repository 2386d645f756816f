import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { Instance, TemplateVersion } from '#dashboard/page/api/records.ts';
import { useData } from '#dashboard/page/app/data/use-data.ts';
import { setSearch } from '#dashboard/page/app/routing/location.ts';
import { addressOf } from '#dashboard/page/app/routing/router.ts';
import { useSession } from '#dashboard/page/app/session/session.ts';
import { html } from '#dashboard/page/html.ts';
import { Badge, Copy, Icon, More, Status, Time } from '#dashboard/page/parts/basics.ts';
import { Card, Loaded, Notice } from '#dashboard/page/parts/boxes.ts';
import { ConfirmChange } from '#dashboard/page/parts/dialogs/confirm-change.ts';
import { useNames } from '#dashboard/page/parts/who.ts';
import { countOf } from '#dashboard/page/text/numbers.ts';
import { OperationSteps } from '#dashboard/page/views/templates/operation-steps.ts';
import { UpgradePanel } from '#dashboard/page/views/templates/upgrade-panel.ts';

interface PanelProps {
  readonly id: string;
  /** The versions, newest first; none for keys that may not know of templates. */
  readonly versions: ReadonlyArray<TemplateVersion>;
}

export function InstancePanel({ id, versions }: PanelProps): VNode {
  const instance = useData<Instance>(`/v1/instances/${id}`, { kinds: ['instance', 'flow', 'flow-version'] });
  return html`<div class="stack"><${Loaded} data=${instance}>${(known: Instance) => html`<${Details} instance=${known} versions=${versions} />`}<//></div>`;
}

function Details({ instance, versions }: { instance: Instance; versions: ReadonlyArray<TemplateVersion> }): VNode {
  const names = useNames();
  const { me, toasts } = useSession();
  const [opened, setOpened] = useState<'retry' | 'delete' | null>(null);
  const close = () => setOpened(null);
  const version = versions.find(({ id }) => id === instance.templateVersionId) ?? null;
  const newer = versions.filter(
    (each) => each.publishedAt !== null && version !== null && each.version > version.version,
  );
  const mayChange = me.keyType === 'admin' || me.keyType === 'partner';
  const { operation, lastOperation, drifted = null } = instance;
  return html`<${Card} id="instance" title=${instance.name} aside=${html`<${Status} status=${instance.status} />
      <button type="button" class="btn icon-only quiet" aria-label="Close" onClick=${() => setSearch({ instance: null })}><${Icon} name="close" /></button>`}>
      <div class="body">
        <dl class="kv">
          <dt>Customer</dt><dd>${names.shown('organization', instance.organizationId)}</dd>
          <dt>Version</dt><dd>${version === null ? instance.templateVersionId : `${version.version}${version.tag === null ? '' : `, ${version.tag}`}`}</dd>
          <dt>Id</dt><dd><${Copy} text=${instance.id} label="id" /></dd>
          <dt>Flows</dt><dd>${instance.resources.flows.map(
            ({ key, flowId }, index) =>
              html`${index === 0 ? '' : ', '}<a href=${addressOf('flows', flowId)}>${key}</a>${drifted?.includes(flowId) ? html` <${Badge} tone="warn" plain=${true}>drifted<//>` : ''}`,
          )}</dd>
          ${instance.resources.stores.length === 0 ? null : html`<dt>Stores</dt><dd>${instance.resources.stores.map(({ key }) => key).join(', ')}</dd>`}
          ${instance.phoneNumberRequirements.map(
            ({ key, label, phoneNumberId }) =>
              html`<dt key=${key}>${label}</dt><dd>${phoneNumberId === null ? html`<${Badge} tone="warn" plain=${true}>missing<//>` : names.shown('phone-number', phoneNumberId)}</dd>`,
          )}
          <dt>Changed</dt><dd><${Time} at=${instance.updatedAt} /></dd>
        </dl>
        ${
          mayChange
            ? html`<div class="row">
          ${instance.status === 'failed' || operation?.problem ? html`<button type="button" class="btn" onClick=${() => setOpened('retry')}>Retry</button>` : null}
          <${More} label="More for this instance"><button type="button" class="btn danger" onClick=${() => setOpened('delete')}>Delete</button><//>
        </div>`
            : null
        }
      </div>
      ${
        lastOperation?.outcome === 'undone' || (instance.status === 'failed' && lastOperation !== null)
          ? html`<${Notice} tone="bad" inside=${true}>
        ${lastOperation.outcome === 'undone' ? 'Undone' : 'Failed'} at <${Time} at=${lastOperation.endedAt} />: ${lastOperation.reason ?? 'no reason was recorded'}
        ${lastOperation.outcome === 'undone' && version !== null ? html` <span class="small">Version ${version.version} runs as before.</span>` : ''}<//>`
          : null
      }
      <details class="more"><summary>${countOf(Object.keys(instance.fieldValues).length, 'field value')}</summary>
        <div class="body"><dl class="kv">${Object.entries(instance.fieldValues).map(([key, value]) => html`<dt key=${key} class="mono">${key}</dt><dd>${value}</dd>`)}</dl></div>
      </details>
    <//>
    ${operation === null ? null : html`<${OperationSteps} instance=${instance} operation=${operation} versions=${versions} />`}
    ${operation === null && mayChange && newer.length > 0 ? html`<${UpgradePanel} instance=${instance} from=${version} targets=${newer} />` : null}
    ${
      opened === 'retry'
        ? html`<${ConfirmChange} title=${`Retry ${instance.name}?`} request=${{ method: 'POST', path: `/v1/instances/${instance.id}/retry`, body: {} }}
      keepLabel="Cancel" doLabel="Retry" onClose=${close} onDone=${() => toasts.show(`${instance.name} is being retried.`)} />`
        : null
    }
    ${
      opened === 'delete'
        ? html`<${ConfirmChange} title=${`Delete ${instance.name}?`} request=${{ method: 'DELETE', path: `/v1/instances/${instance.id}` }}
      keepLabel="Keep it" doLabel="Delete instance" isDestructive=${true} onClose=${close} onDone=${() => {
        setSearch({ instance: null });
        toasts.show(`${instance.name} is deleted.`);
      }}><p class="muted">The resources that it created are deleted too: ${countOf(instance.resources.flows.length, 'flow')}, ${countOf(instance.resources.stores.length, 'store')}. What the customer added stays.</p><//>`
        : null
    }`;
}
