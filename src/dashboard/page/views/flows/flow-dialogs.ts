import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { toApiError } from '#dashboard/page/api/api-error.ts';
import type { Flow, FlowVersion } from '#dashboard/page/api/records.ts';
import { goTo } from '#dashboard/page/app/routing/location.ts';
import { useSession } from '#dashboard/page/app/session/session.ts';
import { compareGraphs } from '#dashboard/page/graph/compare-graphs.ts';
import { readFlowGraph } from '#dashboard/page/graph/flow-graph.ts';
import { jsonChanges } from '#dashboard/page/graph/json-changes.ts';
import { html } from '#dashboard/page/html.ts';
import { ConfirmChange } from '#dashboard/page/parts/dialogs/confirm-change.ts';
import type { SeenResource } from '#dashboard/page/parts/dialogs/conflict.ts';
import { FormDialog } from '#dashboard/page/parts/dialogs/form-dialog.ts';
import { TextField } from '#dashboard/page/parts/fields.ts';
import { useNames } from '#dashboard/page/parts/who.ts';
import { countOf } from '#dashboard/page/text/numbers.ts';
import { useNumbersOf } from '#dashboard/page/views/flows/flow-data.ts';
import type { Station } from '#dashboard/page/views/flows/timeline.ts';

interface Shared {
  readonly flow: Flow;
  readonly etag: string | null;
  readonly versions: ReadonlyArray<FlowVersion>;
  readonly active: FlowVersion | null;
  readonly onClose: () => void;
}

/** The flow as it was when the dialog opened. A version has the history and the ETag of its flow. */
function seenFlow({ id }: Flow, etag: string | null): SeenResource {
  return { path: `/v1/flows/${id}`, etag };
}

export function ActivateDialog({ flow, etag, active, chosen, onClose }: Shared & { chosen: FlowVersion }): VNode {
  const { api, toasts } = useSession();
  const names = useNames();
  const numbers = useNumbersOf(flow).value?.phoneNumbers ?? [];
  const activate = (version: FlowVersion) => api.send('POST', `/v1/flow-versions/${version.id}/activate`, {});
  const undo = (version: FlowVersion) => ({
    label: `Activate ${version.version} again`,
    run: () =>
      void activate(version).catch((error) =>
        toasts.showError(`Version ${version.version} was not activated again.`, toApiError(error).message),
      ),
  });
  const facts = [
    ['Flow', `${flow.name}, ${names.ofProject(flow.projectId)}`],
    ...(active === null ? [] : [['Replaces', `version ${active.version}, which stays and can be activated again`]]),
    ['Phone numbers', numbers.length === 0 ? 'none use this flow' : numbers.map(({ number }) => number).join(', ')],
    ['Changes', active === null ? 'everything' : changesIn(active, chosen)],
  ];
  return html`<${ConfirmChange}
    title=${`Activate version ${chosen.version}?`}
    request=${{ method: 'POST', path: `/v1/flow-versions/${chosen.id}/activate`, body: {}, seen: seenFlow(flow, etag) }}
    facts=${facts}
    keepLabel=${active === null ? 'Cancel' : `Keep version ${active.version}`}
    doLabel=${`Activate version ${chosen.version}`}
    onClose=${onClose}
    onDone=${() => toasts.show(`Version ${chosen.version} is active.`, active === null ? '' : `It replaced version ${active.version}.`, active === null ? null : undo(active))}
  />`;
}

function changesIn(before: FlowVersion, after: FlowVersion): string {
  const graph = readFlowGraph(after.flowSchema);
  if (graph !== null) return compareGraphs(readFlowGraph(before.flowSchema), graph).summary || 'none to the steps';
  return countOf(jsonChanges(before.flowSchema, after.flowSchema).length, 'change');
}

/** Makes a copy of the version. A second call can activate the copy. */
export function RestoreDialog({
  flow,
  active,
  station,
  next,
  onClose,
}: Shared & { station: Station; next: number }): VNode {
  const { api, toasts } = useSession();
  const [isActivated, setActivated] = useState(false);
  const done = async (made: FlowVersion) => {
    goTo('flows', flow.id, { version: made.id });
    if (!isActivated)
      return toasts.show(`Version ${made.version} is a copy of version ${station.number}.`, 'It is not active.');
    try {
      await api.send('POST', `/v1/flow-versions/${made.id}/activate`, {});
      toasts.show(`Version ${made.version} is active.`, `It is a copy of version ${station.number}.`);
    } catch (error) {
      toasts.showError(`Version ${made.version} was created, but not activated.`, toApiError(error).message);
    }
  };
  return html`<${ConfirmChange}
    title=${`Restore version ${station.number} as version ${next}?`}
    request=${{ method: 'POST', path: `/v1/flow-versions/${station.id}/restore`, body: {} }}
    keepLabel="Cancel"
    doLabel=${`Restore as version ${next}`}
    onClose=${onClose}
    onDone=${done}
  >
    <p class="muted">The copy is not active, so nothing changes for callers.</p>
    <label class="choice">
      <input type="checkbox" checked=${isActivated} onChange=${(event: Event) => setActivated((event.target as HTMLInputElement).checked)} />Activate it at once
      <span class="hint">${active === null ? '' : `Replaces version ${active.version}. `}This is a second step. If it fails, the copy stays and this page says so.</span>
    </label>
  <//>`;
}

export function DescribeDialog({ flow, etag, onClose }: Shared): VNode {
  const { api, names } = useSession();
  const [name, setName] = useState(flow.name);
  const [description, setDescription] = useState(flow.description ?? '');
  const [seen] = useState(seenFlow(flow, etag));
  const save = async () => {
    const body = { name, description: description === '' ? null : description };
    await api.send('PATCH', `/v1/flows/${flow.id}`, body, { ifMatch: seen.etag });
    names.learn('flow', flow.id, name);
    return true;
  };
  return html`<${FormDialog} title="Edit name and description" doLabel="Save" onClose=${onClose} onSave=${save} seen=${seen} fields=${['/name', '/description']}>
    ${(problemAt: (pointer: string) => string | null) => html`
      <${TextField} label="Name" value=${name} onText=${setName} problem=${problemAt('/name')} hint="1 to 200 characters" />
      <${TextField} label="Description" rows=${4} value=${description} onText=${setDescription} problem=${problemAt('/description')} />`}
  <//>`;
}

export function DeleteFlowDialog({ flow, etag, onClose, onGone }: Shared & { onGone: () => void }): VNode {
  const { toasts } = useSession();
  const numbers = useNumbersOf(flow).value?.phoneNumbers ?? [];
  const facts = numbers.length === 0 ? [] : [['Detached', numbers.map(({ number }) => number).join(', ')]];
  return html`<${ConfirmChange}
    title=${`Delete ${flow.name}?`}
    request=${{ method: 'DELETE', path: `/v1/flows/${flow.id}`, seen: seenFlow(flow, etag) }}
    facts=${facts}
    keepLabel="Keep the flow"
    doLabel="Delete flow"
    isDestructive=${true}
    onClose=${onClose}
    onDone=${() => {
      toasts.show(`${flow.name} is deleted.`, 'Its history is still readable.');
      onGone();
    }}
  ><p class="muted">Its versions are deleted too. The history is still readable.</p><//>`;
}
