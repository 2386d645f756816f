import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { PhoneNumber } from '#dashboard/page/api/records.ts';
import { type ProjectItems, useFlows, usePhoneNumbers } from '#dashboard/page/app/data/lists.ts';
import { setSearch } from '#dashboard/page/app/routing/location.ts';
import { addressOf } from '#dashboard/page/app/routing/router.ts';
import { projectsIn } from '#dashboard/page/app/session/scope.ts';
import { useScope } from '#dashboard/page/app/session/scope-menu.ts';
import { useSession } from '#dashboard/page/app/session/session.ts';
import { html } from '#dashboard/page/html.ts';
import { More, Status, Time } from '#dashboard/page/parts/basics.ts';
import { Card, Empty, Filters, Loaded, PageHead, Table } from '#dashboard/page/parts/boxes.ts';
import { ConfirmChange } from '#dashboard/page/parts/dialogs/confirm-change.ts';
import { FormDialog } from '#dashboard/page/parts/dialogs/form-dialog.ts';
import { SelectField, TextField } from '#dashboard/page/parts/fields.ts';
import { ProjectsLeft } from '#dashboard/page/parts/projects-left.ts';
import { useNames } from '#dashboard/page/parts/who.ts';
import { countOf } from '#dashboard/page/text/numbers.ts';

type Opened = { readonly dialog: 'new' } | { readonly dialog: 'point' | 'delete'; readonly number: PhoneNumber } | null;

export function PhoneNumbersView({ search }: { search: URLSearchParams }): VNode {
  const names = useNames();
  const { scope } = useScope();
  const [opened, setOpened] = useState<Opened>(null);
  const numbers = usePhoneNumbers(projectsIn(names, scope));
  const close = () => setOpened(null);
  const { toasts } = useSession();
  const create = html`<button type="button" class="btn primary" data-new onClick=${() => setOpened({ dialog: 'new' })}>New number</button>`;
  return html`<${PageHead} title="Phone numbers" actions=${create} />
    <${Loaded} data=${numbers} rows=${6}>${(all: ProjectItems<PhoneNumber>) => html`<${NumberList} all=${all} search=${search} onOpen=${setOpened} />`}<//>
    ${opened?.dialog === 'new' ? html`<${NewNumberDialog} onClose=${close} />` : null}
    ${opened?.dialog === 'point' ? html`<${PointDialog} number=${opened.number} onClose=${close} />` : null}
    ${
      opened?.dialog === 'delete'
        ? html`<${ConfirmChange} title=${`Delete ${opened.number.number}?`} request=${{ method: 'DELETE', path: `/v1/phone-numbers/${opened.number.id}` }}
      keepLabel="Keep it" doLabel="Delete number" isDestructive=${true} onClose=${close} onDone=${() => toasts.show('The number is free again.')} />`
        : null
    }`;
}

function NumberList({
  all,
  search,
  onOpen,
}: {
  all: ProjectItems<PhoneNumber>;
  search: URLSearchParams;
  onOpen: (opened: Opened) => void;
}): VNode {
  const names = useNames();
  const text = (search.get('name') ?? '').toLowerCase();
  const status = search.get('status') ?? '';
  const flow = search.get('flow') ?? '';
  const found = all.items.filter(
    ({ name, number, status: is, flowId, projectId }) =>
      `${name} ${number} ${names.ofProject(projectId)}`.toLowerCase().includes(text) &&
      (status === '' || is === status) &&
      (flow === '' || flowId === flow),
  );
  if (all.items.length === 0) {
    return html`<${Card} label="Phone numbers"><${Empty} title="No phone numbers yet" actions=${html`<button type="button" class="btn primary" onClick=${() => onOpen({ dialog: 'new' })}>New number</button>`}>
      A phone number points at one flow: callers get its active version.<//><//>`;
  }
  const clear = html`<button type="button" class="btn" onClick=${() => setSearch({ name: null, status: null, flow: null })}>Clear filters</button>`;
  return html`<${Filters}>
      <${TextField} label="Number, name or project" type="search" value=${search.get('name') ?? ''} onText=${(name: string) => setSearch({ name })} />
      <${SelectField} label="Status" value=${status} options=${[{ value: '', text: 'any' }, { value: 'enabled', text: 'enabled' }, { value: 'disabled', text: 'disabled' }]} onPick=${(picked: string) => setSearch({ status: picked })} />
      ${flow === '' ? null : clear}
    <//>
    <${ProjectsLeft} count=${all.projectsLeft} />
    <${Card} label="Phone numbers">${
      found.length === 0
        ? html`<${Empty} title="No number matches these filters" actions=${clear}>${countOf(all.items.length, 'number')} without them.<//>`
        : html`<${Table} caption="Phone numbers" fold=${true} head=${html`<th scope="col">Number</th><th scope="col">Status</th><th scope="col">Name</th><th scope="col">Type</th><th scope="col">Points at</th><th scope="col">Project</th><th scope="col" class="num">Updated</th><th scope="col" class="num"><span class="sr">Do</span></th>`}>
            ${found.map((number) => html`<${NumberRow} key=${number.id} number=${number} onOpen=${onOpen} />`)}
          <//>`
    }<//>`;
}

function NumberRow({ number, onOpen }: { number: PhoneNumber; onOpen: (opened: Opened) => void }): VNode {
  const names = useNames();
  const { flowId } = number;
  return html`<tr>
    <th scope="row" class="nowrap">${number.number}</th>
    <td><${Status} status=${number.status} /></td>
    <td>${number.name}</td><td class="muted">${number.type}</td>
    <td>${flowId === null ? html`<span class="faint">no flow</span>` : html`<a href=${addressOf('flows', flowId)}>${names.shown('flow', flowId)}</a>`}</td>
    <td class="muted wide">${names.ofProject(number.projectId)}</td>
    <td class="num faint later"><${Time} at=${number.updatedAt} /></td>
    <td class="num later"><button type="button" class="btn quiet" aria-label=${`Change ${number.number}`} onClick=${() => onOpen({ dialog: 'point', number })}>Change</button>
      <${More} label=${`More for ${number.number}`}><button type="button" class="btn quiet" aria-label=${`Delete ${number.number}`} onClick=${() => onOpen({ dialog: 'delete', number })}>Delete</button><//></td>
  </tr>`;
}

function useFlowOptions(projectId: string) {
  const names = useNames();
  const project = names.projects.filter(({ id }) => id === projectId);
  const flows = useFlows(project).value?.items ?? [];
  return [{ value: '', text: 'nothing' }, ...flows.map(({ id, name }) => ({ value: id, text: name }))];
}

const statuses = [
  { value: 'enabled', text: 'enabled' },
  { value: 'disabled', text: 'disabled' },
];

function PointDialog({ number, onClose }: { number: PhoneNumber; onClose: () => void }): VNode {
  const { api } = useSession();
  const [flowId, setFlow] = useState(number.flowId ?? '');
  const [status, setStatus] = useState<string>(number.status);
  const [name, setName] = useState(number.name);
  const options = useFlowOptions(number.projectId);
  const save = async () => {
    if (flowId !== (number.flowId ?? ''))
      await api.send('PATCH', `/v1/phone-numbers/${number.id}/flow`, { flowId: flowId === '' ? null : flowId });
    // Unchanged members are not sent, because somebody else may have changed them.
    const changed = { ...(status === number.status ? {} : { status }), ...(name === number.name ? {} : { name }) };
    if (Object.keys(changed).length > 0) await api.send('PATCH', `/v1/phone-numbers/${number.id}`, changed);
    return true;
  };
  return html`<${FormDialog} title=${number.number} doLabel="Save" onClose=${onClose} onSave=${save} fields=${['/name']}>
    ${(problemAt: (pointer: string) => string | null) => html`
      <${TextField} label="Name" value=${name} onText=${setName} problem=${problemAt('/name')} />
      <${SelectField} label="Points at" value=${flowId} options=${options} onPick=${setFlow} />
      <${SelectField} label="Status" value=${status} options=${statuses} onPick=${setStatus} />`}
  <//>`;
}

/** True if the number begins with a country (E.164), whatever separates its digits. */
function hasInternationalForm(number: string): boolean {
  return /^\+[1-9]\d{6,14}$/.test(number.replace(/[\s().-]/g, ''));
}

function NewNumberDialog({ onClose }: { onClose: () => void }): VNode {
  const { api, me } = useSession();
  const names = useNames();
  const [name, setName] = useState('');
  const [number, setNumber] = useState('');
  const [type, setType] = useState('platform');
  const [projectId, setProject] = useState(me.projectId);
  const [flowId, setFlow] = useState('');
  const options = useFlowOptions(projectId);
  const hasOddForm = type === 'platform' && number.trim() !== '' && !hasInternationalForm(number);
  const save = async () => {
    await api.send('POST', `/v1/projects/${projectId}/phone-numbers`, {
      name,
      number,
      type,
      status: 'enabled',
      flowId: flowId === '' ? null : flowId,
    });
    return true;
  };
  return html`<${FormDialog} title="New phone number" doLabel="Add number" onClose=${onClose} onSave=${save} fields=${['/name', '/number']}>
    ${(problemAt: (pointer: string) => string | null) => html`
      <${TextField} label="Number" value=${number} autofocus=${true} onText=${setNumber} placeholder="+44 20 7946 0182" problem=${problemAt('/number')} hint=${hasOddForm ? 'This number has no international form, like +44 20 7946 0182. It is stored as it is; calls may not reach it.' : undefined} />
      <${TextField} label="Name" value=${name} onText=${setName} problem=${problemAt('/name')} />
      <${SelectField} label="Type" value=${type} options=${['platform', 'partner', 'external'].map((value) => ({ value, text: value }))} onPick=${setType} />
      <${SelectField} label="Project" value=${projectId} onPick=${setProject} options=${names.projects.map(({ id }) => ({ value: id, text: names.ofProject(id) }))} />
      <${SelectField} label="Points at" value=${flowId} options=${options} onPick=${setFlow} />`}
  <//>`;
}
