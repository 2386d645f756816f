import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { useObjectList } from '#dashboard/page/app/data/object-list.ts';
import { addressOf } from '#dashboard/page/app/routing/router.ts';
import { useSession } from '#dashboard/page/app/session/session.ts';
import { html } from '#dashboard/page/html.ts';
import { More, Status, Time } from '#dashboard/page/parts/basics.ts';
import { Empty, PageHead } from '#dashboard/page/parts/boxes.ts';
import { ConfirmChange } from '#dashboard/page/parts/dialogs/confirm-change.ts';
import { FormDialog } from '#dashboard/page/parts/dialogs/form-dialog.ts';
import { useNewDialog } from '#dashboard/page/parts/dialogs/use-new-dialog.ts';
import { TextField } from '#dashboard/page/parts/fields.ts';
import { PagedTable } from '#dashboard/page/parts/paged-table.ts';
import { useNames } from '#dashboard/page/parts/who.ts';

export interface Store {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly status: string;
  readonly createdAt: string;
}

export function StoresView({ search }: { search: URLSearchParams }): VNode {
  const { me, toasts } = useSession();
  const names = useNames();
  const [isNew, setNew] = useNewDialog(search);
  const [removed, setRemoved] = useState<Store | null>(null);
  const stores = useObjectList<Store>('/v1/stores', 'store');
  const create = html`<button type="button" class="btn primary" data-new onClick=${() => setNew(true)}>New store</button>`;
  return html`<${PageHead} title="Stores" actions=${create} facts=${[['Project', names.ofProject(me.projectId)]]} />
    <${PagedTable} label="Knowledge stores" noun="store" list=${stores}
      head=${html`<th scope="col">Store</th><th scope="col">State</th><th scope="col">Description</th><th scope="col" class="num">Made</th><th scope="col" class="num"><span class="sr">Do</span></th>`}
      empty=${html`<${Empty} title="No stores yet" actions=${create}>A knowledge store has the files from which an agent answers.<//>`}
      row=${(store: Store) => html`<tr key=${store.id}>
        <th scope="row"><a href=${addressOf('stores', store.id)}>${store.name}</a></th>
        <td><${Status} status=${store.status} /></td>
        <td class="wide muted">${store.description}</td>
        <td class="num faint later"><${Time} at=${store.createdAt} /></td>
        <td class="num later end"><${More} label=${`More for ${store.name}`}><button type="button" class="btn quiet" aria-label=${`Delete ${store.name}`} onClick=${() => setRemoved(store)}>Delete</button><//></td>
      </tr>`} />
    ${isNew ? html`<${NewStoreDialog} onClose=${() => setNew(false)} onMade=${stores.reload} />` : null}
    ${
      removed === null
        ? null
        : html`<${ConfirmChange} title=${`Delete ${removed.name}?`} request=${{ method: 'DELETE', path: `/v1/stores/${removed.id}` }}
      keepLabel="Keep it" doLabel="Delete store" isDestructive=${true} onClose=${() => setRemoved(null)} onDone=${() => {
        toasts.show(`${removed.name} is deleted. Its files stay.`);
        stores.reload();
      }} />`
    }`;
}

function NewStoreDialog({ onClose, onMade }: { onClose: () => void; onMade: () => void }): VNode {
  const { api } = useSession();
  const [name, setName] = useState('');
  const [description, setDescription] = useState('');
  const save = async () => {
    await api.send('POST', '/v1/stores', { name, ...(description === '' ? {} : { description }) });
    onMade();
    return true;
  };
  return html`<${FormDialog} title="New store" doLabel="Create store" onClose=${onClose} onSave=${save} fields=${['/name', '/description']}>
    ${(problemAt: (pointer: string) => string | null) => html`
      <${TextField} label="Name" value=${name} autofocus=${true} onText=${setName} problem=${problemAt('/name')} />
      <${TextField} label="Description" note="optional" value=${description} onText=${setDescription} problem=${problemAt('/description')} />`}
  <//>`;
}
