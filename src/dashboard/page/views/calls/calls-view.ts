import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { RecordedCall } from '#dashboard/page/api/records.ts';
import { pageItems, usePages } from '#dashboard/page/app/data/pages.ts';
import { useData } from '#dashboard/page/app/data/use-data.ts';
import { goTo, setSearch } from '#dashboard/page/app/routing/location.ts';
import { addressOf } from '#dashboard/page/app/routing/router.ts';
import { useSession } from '#dashboard/page/app/session/session.ts';
import { html } from '#dashboard/page/html.ts';
import { Badge, Time } from '#dashboard/page/parts/basics.ts';
import { Empty, Filters, PageHead } from '#dashboard/page/parts/boxes.ts';
import { SelectField, TextField } from '#dashboard/page/parts/fields.ts';
import { PagedTable } from '#dashboard/page/parts/paged-table.ts';
import { ActorName, useNames } from '#dashboard/page/parts/who.ts';
import { formatCount, formatMoney, formatMs } from '#dashboard/page/text/numbers.ts';
import { AttemptBars } from '#dashboard/page/views/calls/attempt-bars.ts';
import { outcomes, outcomeTone } from '#dashboard/page/views/calls/outcomes.ts';

interface CallsPage {
  readonly calls: ReadonlyArray<RecordedCall>;
  readonly nextCursor?: string;
}

/** Shows the newest calls first: how each ended, with its attempts, times and costs. */
export function CallsView({ search }: { search: URLSearchParams }): VNode {
  const query = callsQuery(search);
  return html`<${PageHead} title="Calls" />
    <${CallFilters} search=${search} />
    <${Calls} key=${query} query=${query} projectId=${search.get('projectId') ?? ''} />`;
}

/** Makes the query for the API from the filters in the address. */
function callsQuery(search: URLSearchParams): string {
  const query = new URLSearchParams();
  for (const name of ['projectId', 'model', 'outcome', 'keyId']) {
    const value = search.get(name) ?? '';
    if (value !== '') query.set(name, value);
  }
  return query.toString();
}

function CallFilters({ search }: { search: URLSearchParams }): VNode {
  const { me } = useSession();
  const names = useNames();
  const [requestId, setRequestId] = useState('');
  const models = useData<{ data: ReadonlyArray<{ id: string }> }>('/v1/models', { kinds: [] }).value?.data ?? [];
  const at = (name: string) => search.get(name) ?? '';
  const projectId = at('projectId');
  const open = () => requestId.trim() !== '' && goTo('calls', requestId.trim(), { projectId });
  return html`<${Filters}>
    <${SelectField} label="Project" value=${projectId === '' ? me.projectId : projectId} options=${names.projects.map(({ id }) => ({ value: id, text: names.ofProject(id) }))} onPick=${(picked: string) => setSearch({ projectId: picked })} />
    <${SelectField} label="Model" value=${at('model')} options=${[{ value: '', text: 'any' }, ...models.map(({ id }) => ({ value: id, text: id }))]} onPick=${(model: string) => setSearch({ model })} />
    <${SelectField} label="Outcome" value=${at('outcome')} options=${[{ value: '', text: 'any' }, ...outcomes.map((value) => ({ value, text: value.replace('-', ' ') }))]} onPick=${(outcome: string) => setSearch({ outcome })} />
    <${TextField} label="Request id" mono=${true} value=${requestId} onText=${setRequestId} placeholder="of X-Request-Id" onKeyDown=${(event: KeyboardEvent) => event.key === 'Enter' && open()} />
    <button type="button" class="btn" onClick=${open}>Open</button>
  <//>`;
}

function Calls({ query, projectId }: { query: string; projectId: string }): VNode {
  const { api } = useSession();
  const list = usePages<RecordedCall>(query, async (after) => {
    const parameters = new URLSearchParams(query);
    parameters.set('limit', String(pageItems));
    if (after !== null) parameters.set('cursor', after);
    const { calls, nextCursor } = await api.get<CallsPage>(`/v1/gateway/calls?${parameters}`);
    return { items: calls, next: nextCursor ?? null };
  });
  const hasCost = (list.items ?? []).some(({ cost }) => cost !== undefined);
  return html`<${PagedTable} label="Calls" caption="Calls, newest first" noun="record" list=${list} empty=${html`<${NoCalls} isFiltered=${query !== ''} />`}
    head=${html`<th scope="col">Time</th><th scope="col">Outcome</th><th scope="col">Model</th><th scope="col">Attempts</th><th scope="col" class="num">Total, ms</th><th scope="col" class="num">Tokens</th>${hasCost ? html`<th scope="col" class="num">Cost</th>` : null}<th scope="col">Key</th>`}
    row=${(call: RecordedCall, index: number) => html`<${CallRow} key=${`${call.requestId} ${index}`} call=${call} projectId=${projectId} hasCost=${hasCost} />`}
    actions=${html`<button type="button" class="btn quiet" onClick=${list.reload}>Read again</button>`} />`;
}

function NoCalls({ isFiltered }: { isFiltered: boolean }): VNode {
  const clear = html`<button type="button" class="btn" onClick=${() => setSearch({ projectId: null, model: null, outcome: null, keyId: null })}>Clear filters</button>`;
  const playground = html`<a class="btn primary" href=${addressOf('gateway')}>Open the playground</a>`;
  return html`<${Empty} title=${isFiltered ? 'No call matches these filters' : 'No calls yet'} actions=${isFiltered ? clear : playground}>
    ${isFiltered ? 'Records of calls stay for seven days.' : 'Each call of a model appears here within a second: its attempts, times and costs, and nothing of what was said.'}
  <//>`;
}

function CallRow({ call, projectId, hasCost }: { call: RecordedCall; projectId: string; hasCost: boolean }): VNode {
  const { requestId, time, outcome, model, attempts, totalMs, inputTokens, outputTokens, cost, keyId } = call;
  const tokens = inputTokens === null ? null : inputTokens + (outputTokens ?? 0);
  return html`<tr>
    <th scope="row" class="nowrap"><a href=${addressOf('calls', requestId, { projectId })} title=${requestId}><${Time} at=${time} /></a></th>
    <td><${Badge} tone=${outcomeTone(outcome)}>${outcome.replace('-', ' ')}<//></td>
    <td>${model}</td>
    <td class="wide"><${AttemptBars} attempts=${attempts} totalMs=${totalMs} isSmall=${true} /></td>
    <td class="num later" data-l="ms">${formatMs(totalMs)}</td>
    <td class="num later" data-l="tokens">${formatCount(tokens)}</td>
    ${hasCost ? html`<td class="num later" data-l="cost">${formatMoney(cost ?? null)}</td>` : null}
    <td class="later end"><${ActorName} actor=${{ keyId, keyType: '' }} /></td>
  </tr>`;
}
