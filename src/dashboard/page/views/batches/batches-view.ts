import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { useObjectList } from '#dashboard/page/app/data/object-list.ts';
import { useData } from '#dashboard/page/app/data/use-data.ts';
import { useDownload } from '#dashboard/page/app/data/use-download.ts';
import { useSession } from '#dashboard/page/app/session/session.ts';
import { html } from '#dashboard/page/html.ts';
import { Badge, Copy, Time, type Tone } from '#dashboard/page/parts/basics.ts';
import { Empty, PageHead } from '#dashboard/page/parts/boxes.ts';
import { Share } from '#dashboard/page/parts/charts/share.ts';
import { ConfirmChange } from '#dashboard/page/parts/dialogs/confirm-change.ts';
import { FormDialog } from '#dashboard/page/parts/dialogs/form-dialog.ts';
import { useNewDialog } from '#dashboard/page/parts/dialogs/use-new-dialog.ts';
import { SelectField } from '#dashboard/page/parts/fields.ts';
import { PagedTable } from '#dashboard/page/parts/paged-table.ts';
import { useNames } from '#dashboard/page/parts/who.ts';
import { formatCount } from '#dashboard/page/text/numbers.ts';
import { formatBytes, type StoredFile } from '#dashboard/page/views/files/file.ts';

/** A batch in OpenAI's form. Times are in seconds since 1970. */
interface Batch {
  readonly id: string;
  readonly status: string;
  readonly endpoint: string;
  readonly created_at: number;
  readonly output_file_id: string | null;
  readonly error_file_id: string | null;
  readonly request_counts: { readonly total: number; readonly completed: number; readonly failed: number };
  readonly errors: { readonly data: ReadonlyArray<{ readonly line: number | null; readonly message: string }> } | null;
}

const tones: Readonly<Record<string, Tone>> = {
  completed: 'ok',
  failed: 'bad',
  expired: 'warn',
  cancelled: 'idle',
  cancelling: 'idle',
};
const running: ReadonlySet<string> = new Set(['validating', 'in_progress', 'finalizing']);
const endpoints = [
  '/v1/chat/completions',
  '/v1/responses',
  '/v1/messages',
  '/v1/embeddings',
  '/v1/audio/speech',
  '/v1/audio/transcriptions',
];
const refreshMs = 5_000;

export function BatchesView({ search }: { search: URLSearchParams }): VNode {
  const { me, toasts } = useSession();
  const names = useNames();
  const [isNew, setNew] = useNewDialog(search);
  const [ended, setEnded] = useState<Batch | null>(null);
  const batches = useObjectList<Batch>('/v1/batches', 'batch', refreshMs);
  const create = html`<button type="button" class="btn primary" data-new onClick=${() => setNew(true)}>New batch</button>`;
  return html`<${PageHead} title="Batches" actions=${create} facts=${[['Project', names.ofProject(me.projectId)]]} />
    <${PagedTable} label="Batches" noun="batch" nouns="batches" list=${batches}
      head=${html`<th scope="col">Batch</th><th scope="col">State</th><th scope="col">Lines</th><th scope="col">Calls</th><th scope="col" class="num">Made</th><th scope="col" class="num"><span class="sr">Do</span></th>`}
      empty=${html`<${Empty} title="No batches yet" actions=${create}>A batch calls a model for each line of a file, within a day and for less money with most providers.<//>`}
      row=${(batch: Batch) => html`<${BatchRow} key=${batch.id} batch=${batch} onCancel=${() => setEnded(batch)} />`} />
    ${isNew ? html`<${NewBatchDialog} onClose=${() => setNew(false)} onMade=${batches.reload} />` : null}
    ${
      ended === null
        ? null
        : html`<${ConfirmChange} title="Cancel the batch?" request=${{ method: 'POST', path: `/v1/batches/${ended.id}/cancel` }}
      keepLabel="Let it run" doLabel="Cancel batch" isDestructive=${true} onClose=${() => setEnded(null)} onDone=${() => {
        toasts.show('The batch ends. The answers so far stay.');
        batches.reload();
      }} />`
    }`;
}

function BatchRow({ batch, onCancel }: { batch: Batch; onCancel: () => void }): VNode {
  const download = useDownload();
  const { id, status, endpoint, created_at, output_file_id, error_file_id, request_counts: counts, errors } = batch;
  const save = (fileId: string, name: string) => download({ path: `/v1/files/${fileId}/content`, name });
  const left = counts.total - counts.completed - counts.failed;
  const words = `${formatCount(counts.completed)} done, ${formatCount(counts.failed)} failed, of ${formatCount(counts.total)}`;
  return html`<tr>
    <th scope="row"><${Copy} text=${id} label="id" /></th>
    <td><${Badge} tone=${tones[status] ?? 'run'}>${status.replace('_', ' ')}<//>${errors?.data[0] === undefined ? null : html`<br /><span class="small muted">${errors.data[0].line === null ? '' : `line ${errors.data[0].line}: `}${errors.data[0].message}</span>`}</td>
    <td class="wide"><${Share} label=${words} parts=${[{ tone: 'tone-ok', value: counts.completed }, { tone: 'tone-bad', value: counts.failed }, { tone: 'track', value: left }]} /><span class="small muted">${words}</span></td>
    <td class="mono small later">${endpoint}</td>
    <td class="num faint later"><${Time} at=${created_at * 1_000} /></td>
    <td class="num later end">
      ${output_file_id === null ? null : html`<button type="button" class="btn quiet" onClick=${() => void save(output_file_id, `${id}.jsonl`)}>Answers</button>`}
      ${error_file_id === null ? null : html`<button type="button" class="btn quiet" onClick=${() => void save(error_file_id, `${id}-errors.jsonl`)}>Errors</button>`}
      ${running.has(status) ? html`<button type="button" class="btn quiet" onClick=${onCancel}>Cancel</button>` : null}</td>
  </tr>`;
}

function NewBatchDialog({ onClose, onMade }: { onClose: () => void; onMade: () => void }): VNode {
  const { api } = useSession();
  const [chosen, setChosen] = useState('');
  const [endpoint, setEndpoint] = useState(endpoints[0] ?? '');
  const files =
    useData<{ data: ReadonlyArray<StoredFile> }>('/v1/files?purpose=batch&order=desc&limit=100', { kinds: ['file'] })
      .value?.data ?? [];
  const fileId = chosen === '' ? (files[0]?.id ?? '') : chosen;
  const save = async () => {
    await api.send('POST', '/v1/batches', { input_file_id: fileId, endpoint, completion_window: '24h' });
    onMade();
    return true;
  };
  return html`<${FormDialog} title="New batch" doLabel="Begin batch" onClose=${onClose} onSave=${save}>
    ${
      files.length === 0
        ? html`<p>A batch needs a file with one request in each line. <a href="/dashboard/files?new=file">Upload one</a> with the purpose <code>batch</code>.</p>`
        : html`<${SelectField} label="Lines in" value=${fileId} onPick=${setChosen} options=${files.map((file) => ({ value: file.id, text: `${file.filename}, ${formatBytes(file.bytes)}` }))} />
          <${SelectField} label="Calls" value=${endpoint} onPick=${setEndpoint} options=${endpoints.map((value) => ({ value, text: value }))} />`
    }
  <//>`;
}
