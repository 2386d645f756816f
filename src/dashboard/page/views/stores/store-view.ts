import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { useObjectList } from '#dashboard/page/app/data/object-list.ts';
import { useData } from '#dashboard/page/app/data/use-data.ts';
import { addressOf } from '#dashboard/page/app/routing/router.ts';
import { useSession } from '#dashboard/page/app/session/session.ts';
import { html } from '#dashboard/page/html.ts';
import { Copy, Status, Time } from '#dashboard/page/parts/basics.ts';
import { Empty, Loaded, PageHead } from '#dashboard/page/parts/boxes.ts';
import { ConfirmChange } from '#dashboard/page/parts/dialogs/confirm-change.ts';
import { FormDialog } from '#dashboard/page/parts/dialogs/form-dialog.ts';
import { SelectField } from '#dashboard/page/parts/fields.ts';
import { PagedTable } from '#dashboard/page/parts/paged-table.ts';
import { formatBytes, type StoredFile } from '#dashboard/page/views/files/file.ts';
import type { Store } from '#dashboard/page/views/stores/stores-view.ts';

interface StoreFile {
  readonly id: string;
  readonly bytes: number;
  readonly status: string;
  readonly created_at: number;
}

export function StoreView({ id }: { id: string }): VNode {
  const { toasts } = useSession();
  const [isAdding, setAdding] = useState(false);
  const [removed, setRemoved] = useState<StoreFile | null>(null);
  const store = useData<Store>(`/v1/stores/${id}`, { kinds: ['store'] });
  const files = useObjectList<StoreFile>(`/v1/stores/${id}/files`, 'store');
  const known = useFiles();
  const nameOf = (fileId: string) => known.find((file) => file.id === fileId)?.filename ?? fileId;
  const add = html`<button type="button" class="btn primary" data-new onClick=${() => setAdding(true)}>Add a file</button>`;
  const back = html`<a class="btn" href=${addressOf('stores')}>All stores</a>`;
  return html`<${Loaded} data=${store} rows=${2}>${({ name, status, description }: Store) =>
    html`<${PageHead} title=${name} actions=${html`${back}${add}`} facts=${[
      ['State', html`<${Status} status=${status} />`],
      ['Id', html`<${Copy} text=${id} label="id" />`],
      ...(description === null ? [] : [['About', description] as const]),
    ]} />`}<//>
    <${PagedTable} label="Files of the store" noun="file" list=${files}
      head=${html`<th scope="col">File</th><th scope="col">State</th><th scope="col" class="num">Size</th><th scope="col" class="num">Added</th><th scope="col" class="num"><span class="sr">Do</span></th>`}
      empty=${html`<${Empty} title="No files yet" actions=${add}>Agents answer from the files of a store.<//>`}
      row=${(file: StoreFile) => html`<tr key=${file.id}>
        <th scope="row" class="wide">${nameOf(file.id)}</th>
        <td><${Status} status=${file.status} /></td>
        <td class="num later" data-l="size">${formatBytes(file.bytes)}</td>
        <td class="num faint later"><${Time} at=${file.created_at * 1_000} /></td>
        <td class="num later end"><button type="button" class="btn quiet" aria-label=${`Remove ${nameOf(file.id)}`} onClick=${() => setRemoved(file)}>Remove</button></td>
      </tr>`} />
    ${isAdding ? html`<${AddFileDialog} path=${`/v1/stores/${id}/files`} files=${known} onClose=${() => setAdding(false)} onDone=${files.reload} />` : null}
    ${
      removed === null
        ? null
        : html`<${ConfirmChange} title=${`Remove ${nameOf(removed.id)}?`} request=${{ method: 'DELETE', path: `/v1/stores/${id}/files/${removed.id}` }}
      keepLabel="Keep it" doLabel="Remove file" isDestructive=${true} onClose=${() => setRemoved(null)} onDone=${() => {
        toasts.show('The file is not in the store any more. It is still among the files.');
        files.reload();
      }} />`
    }`;
}

function useFiles(): ReadonlyArray<StoredFile> {
  const files = useData<{ data: ReadonlyArray<StoredFile> }>('/v1/files?order=desc&limit=1000', { kinds: ['file'] });
  return files.value?.data ?? [];
}

interface AddFileProps {
  readonly path: string;
  readonly files: ReadonlyArray<StoredFile>;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

function AddFileDialog({ path, files, onClose, onDone }: AddFileProps): VNode {
  const { api } = useSession();
  const [chosen, setChosen] = useState('');
  const fileId = chosen === '' ? (files[0]?.id ?? '') : chosen;
  const save = async () => {
    await api.send('POST', path, { file_id: fileId });
    onDone();
    return true;
  };
  return html`<${FormDialog} title="Add a file" doLabel="Add file" onClose=${onClose} onSave=${save}>
    ${
      files.length === 0
        ? html`<p>There is no file to add. <a href="/dashboard/files?new=file">Upload one</a> first.</p>`
        : html`<${SelectField} label="File" value=${fileId} onPick=${setChosen} options=${files.map(({ id, filename, bytes }) => ({ value: id, text: `${filename}, ${formatBytes(bytes)}` }))} />`
    }
  <//>`;
}
