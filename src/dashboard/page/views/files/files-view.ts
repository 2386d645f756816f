import type { VNode } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { type ApiError, toApiError } from '#dashboard/page/api/api-error.ts';
import { type Upload, upload } from '#dashboard/page/api/upload.ts';
import { useObjectList } from '#dashboard/page/app/data/object-list.ts';
import { useDownload } from '#dashboard/page/app/data/use-download.ts';
import { setSearch } from '#dashboard/page/app/routing/location.ts';
import { useSession } from '#dashboard/page/app/session/session.ts';
import { html } from '#dashboard/page/html.ts';
import { Badge, Copy, More, Time } from '#dashboard/page/parts/basics.ts';
import { Empty, Filters, PageHead, ProblemBox } from '#dashboard/page/parts/boxes.ts';
import { Share } from '#dashboard/page/parts/charts/share.ts';
import { ConfirmChange } from '#dashboard/page/parts/dialogs/confirm-change.ts';
import { Dialog } from '#dashboard/page/parts/dialogs/dialog.ts';
import { useNewDialog } from '#dashboard/page/parts/dialogs/use-new-dialog.ts';
import { SelectField, TextField } from '#dashboard/page/parts/fields.ts';
import { PagedTable } from '#dashboard/page/parts/paged-table.ts';
import { useNames } from '#dashboard/page/parts/who.ts';
import { formatBytes, type StoredFile } from '#dashboard/page/views/files/file.ts';

const purposes = ['batch', 'batch_output', 'user_data', 'assistants'];

export function FilesView({ search }: { search: URLSearchParams }): VNode {
  const { me, toasts } = useSession();
  const download = useDownload();
  const names = useNames();
  const [isNew, setNew] = useNewDialog(search);
  const [removed, setRemoved] = useState<StoredFile | null>(null);
  const purpose = search.get('purpose') ?? '';
  const query = new URLSearchParams({ order: 'desc', ...(purpose === '' ? {} : { purpose }) });
  const files = useObjectList<StoredFile>(`/v1/files?${query}`, 'file');
  const create = html`<button type="button" class="btn primary" data-new onClick=${() => setNew(true)}>Upload a file</button>`;
  const save = ({ id, filename }: StoredFile) => download({ path: `/v1/files/${id}/content`, name: filename });
  return html`<${PageHead} title="Files" actions=${create} facts=${[['Project', names.ofProject(me.projectId)]]} />
    <${Filters}><${SelectField} label="Purpose" value=${purpose} options=${[{ value: '', text: 'any' }, ...purposes.map((value) => ({ value, text: value }))]} onPick=${(picked: string) => setSearch({ purpose: picked })} /><//>
    <${PagedTable} label="Files" noun="file" list=${files}
      head=${html`<th scope="col">File</th><th scope="col">Purpose</th><th scope="col" class="num">Size</th><th scope="col">Id</th><th scope="col" class="num">Made</th><th scope="col" class="num">Expires</th><th scope="col" class="num"><span class="sr">Do</span></th>`}
      empty=${purpose === '' ? html`<${Empty} title="No files yet" actions=${create}>Batches read their lines from a file, and write their answers to one. Knowledge stores are made of files.<//>` : html`<${Empty} title="No file has this purpose" />`}
      row=${(file: StoredFile) => html`<tr key=${file.id}>
        <th scope="row" class="wide">${file.filename}</th>
        <td><${Badge}>${file.purpose}<//></td>
        <td class="num later" data-l="size">${formatBytes(file.bytes)}</td>
        <td class="later id"><${Copy} text=${file.id} label="id" /></td>
        <td class="num faint later"><${Time} at=${file.created_at * 1_000} /></td>
        <td class="num faint later">${file.expires_at === null ? 'never' : html`<${Time} at=${file.expires_at * 1_000} />`}</td>
        <td class="num later end"><button type="button" class="btn quiet" aria-label=${`Download ${file.filename}`} onClick=${() => void save(file)}>Download</button>
          <${More} label=${`More for ${file.filename}`}><button type="button" class="btn quiet" aria-label=${`Delete ${file.filename}`} onClick=${() => setRemoved(file)}>Delete</button><//></td>
      </tr>`} />
    ${isNew ? html`<${UploadDialog} onClose=${() => setNew(false)} onDone=${files.reload} />` : null}
    ${
      removed === null
        ? null
        : html`<${ConfirmChange} title=${`Delete ${removed.filename}?`} request=${{ method: 'DELETE', path: `/v1/files/${removed.id}` }}
      keepLabel="Keep it" doLabel="Delete file" isDestructive=${true} onClose=${() => setRemoved(null)} onDone=${() => {
        toasts.show(`${removed.filename} is deleted.`);
        files.reload();
      }} />`
    }`;
}

function UploadDialog({ onClose, onDone }: { onClose: () => void; onDone: () => void }): VNode {
  const { api, toasts } = useSession();
  const [purpose, setPurpose] = useState('batch');
  const [file, setFile] = useState<File | null>(null);
  const [part, setPart] = useState<number | null>(null);
  const [error, setError] = useState<ApiError | null>(null);
  const running = useRef<Upload | null>(null);
  const close = () => {
    running.current?.cancel();
    onClose();
  };
  const send = async () => {
    if (file === null) return;
    const form = new FormData();
    form.set('purpose', purpose);
    form.set('file', file);
    setError(null);
    setPart(0);
    try {
      running.current = upload('/v1/files', form, api.authorization, setPart);
      const isStored = await running.current.done;
      if (!isStored) return;
      toasts.show(`${file.name} is stored.`);
      onDone();
      onClose();
    } catch (why) {
      setError(toApiError(why));
    }
    running.current = null;
    setPart(null);
  };
  const percent = Math.round((part ?? 0) * 100);
  const footer = html`<button type="button" class="btn" onClick=${close}>Cancel</button>
    <button type="button" class="btn primary" disabled=${file === null} aria-busy=${String(part !== null)} onClick=${send}>Upload</button>`;
  return html`<${Dialog} title="Upload a file" onClose=${close} footer=${footer}>
    <div class="field"><label for="upload-file">File</label>
      <input id="upload-file" type="file" onChange=${(event: Event) => setFile((event.target as HTMLInputElement).files?.[0] ?? null)} /></div>
    <${TextField} label="Purpose" value=${purpose} onText=${setPurpose} hint="batch for the input of a batch; user_data for anything else" />
    ${part === null ? null : html`<${Share} big=${true} label=${`${percent}% sent`} all=${100} parts=${[{ tone: 'tone-accent', value: percent }, { tone: 'track', value: 100 - percent }]} /><p class="muted" role="status">${percent}% sent</p>`}
    ${error === null ? null : html`<${ProblemBox} error=${error} inside=${false} />`}
  <//>`;
}
