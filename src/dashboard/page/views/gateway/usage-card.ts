import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { toApiError } from '#dashboard/page/api/api-error.ts';
import { useData } from '#dashboard/page/app/data/use-data.ts';
import { useSession } from '#dashboard/page/app/session/session.ts';
import { html } from '#dashboard/page/html.ts';
import { Segments } from '#dashboard/page/parts/basics.ts';
import { Card, Empty, Loaded, Table } from '#dashboard/page/parts/boxes.ts';
import { Spark } from '#dashboard/page/parts/charts/sparks.ts';
import { useNames } from '#dashboard/page/parts/who.ts';
import { formatCount, formatMoney, formatMs, noFigure } from '#dashboard/page/text/numbers.ts';
import { formatMoment } from '#dashboard/page/text/times.ts';
import type { GatewayReport } from '#dashboard/page/views/gateway/gateway-report.ts';
import {
  type Narrowed,
  tenantParameters,
  type UsageGrouping,
  usagePath,
} from '#dashboard/page/views/gateway/usage-path.ts';
import type { TimeRange } from '#dashboard/page/views/gateway/use-gateway.ts';

interface UsageRow {
  readonly model?: string;
  readonly target?: string | null;
  readonly key?: string;
  readonly project?: string | null;
  readonly endpoint?: string;
  readonly day?: string;
  readonly calls: number;
  readonly callsWithTokens: number;
  readonly errors: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly characters: number;
  readonly audioSeconds: number;
  readonly cost: number | null;
  readonly p50Ms: number | null;
  readonly p95Ms: number | null;
  readonly p99Ms: number | null;
}

interface Usage {
  readonly from: string;
  readonly until: string;
  readonly rows: ReadonlyArray<UsageRow>;
}

type Column = 'calls' | 'errors' | 'cost' | 'p95Ms' | 'inputTokens' | 'outputTokens';

const refreshMs = 10_000;

export function UsageCard({
  range,
  narrowed,
  answer,
}: {
  range: TimeRange;
  narrowed: Narrowed;
  answer: GatewayReport | null;
}): VNode {
  const { api, me, toasts } = useSession();
  const [group, setGroup] = useState<UsageGrouping>('model');
  const pathAt = () => usagePath(range.ms, group, narrowed, Date.now());
  const usage = useData<Usage>(
    `usage ${range.value} ${group} ${Object.values(tenantParameters(narrowed))}`,
    { kinds: [], everyMs: refreshMs },
    (signal) => api.get(pathAt(), signal),
  );
  const groups = (['model', 'target', 'key', 'project', 'endpoint', 'day'] as const).filter(
    (each) => each !== 'target' || me.keyType === 'admin',
  );
  const save = async () => {
    try {
      const csv = await api.open(pathAt(), { headers: { accept: 'text/csv' } });
      const address = URL.createObjectURL(await csv.blob());
      Object.assign(document.createElement('a'), { href: address, download: 'usage.csv' }).click();
      URL.revokeObjectURL(address);
    } catch (error) {
      toasts.showError('The CSV file could not be made.', toApiError(error).message);
    }
  };
  const aside = html`<${Segments} label="Group by" value=${group} options=${groups.map((value) => ({ value, text: value }))} onPick=${setGroup} />
    <button type="button" class="btn" onClick=${save}>CSV</button>`;
  const note =
    usage.value === null
      ? undefined
      : `${formatMoment(usage.value.from)} to ${formatMoment(usage.value.until)}, whole hours`;
  return html`<${Card} id="usage" title="Usage" note=${note} aside=${aside}>
    <${Loaded} data=${usage} rows=${4}>${({ rows }: Usage) => (rows.length === 0 ? html`<${Empty} title="No calls in this time">Try a call in the playground, or choose a longer time.<//>` : html`<${UsageTable} rows=${rows} group=${group} answer=${answer} />`)}<//>
  <//>`;
}

const heads: Readonly<Record<Column, string>> = {
  calls: 'Calls',
  errors: 'Errors',
  cost: 'Cost',
  p95Ms: 'p95 ms',
  inputTokens: 'Input tokens',
  outputTokens: 'Output tokens',
};

function UsageTable({
  rows,
  group,
  answer,
}: {
  rows: ReadonlyArray<UsageRow>;
  group: UsageGrouping;
  answer: GatewayReport | null;
}): VNode {
  const names = useNames();
  const [sort, setSort] = useState<Column>('calls');
  const sorted = [...rows].sort((one, other) => (other[sort] ?? 0) - (one[sort] ?? 0));
  const titleOf = (row: UsageRow) => {
    const value = row[group] ?? null;
    if (value === null) return group === 'target' ? 'no target' : 'unknown';
    if (group === 'key') return names.shown('key', value);
    return group === 'project' ? names.ofProject(value) : value;
  };
  const head = (column: Column) =>
    html`<th scope="col" class="num" aria-sort=${sort === column ? 'descending' : undefined}><button type="button" onClick=${() => setSort(column)}>${heads[column]}${sort === column ? ' ↓' : ''}</button></th>`;
  const sum = (pick: (row: UsageRow) => number | null) => rows.reduce((total, row) => total + (pick(row) ?? 0), 0);
  const spark = (row: UsageRow) =>
    group === 'model' ? answer?.models.find(({ model }) => model === row.model)?.calls : undefined;
  const applies = (row: UsageRow, value: number) =>
    value === 0 && row.callsWithTokens === 0 ? noFigure : formatCount(value);
  const isPriced = rows.some(({ cost }) => cost !== null);
  const characters = sum((row) => row.characters);
  const audioSeconds = sum((row) => row.audioSeconds);
  const foot = html`<tr><th scope="row">All</th><td></td><td class="num">${formatCount(sum(({ calls }) => calls))}</td><td class="num">${formatCount(sum(({ errors }) => errors))}</td><td class="num">${formatMoney(isPriced ? sum(({ cost }) => cost) : null)}</td><td></td><td></td><td></td>
    <td class="num">${formatCount(sum(({ inputTokens }) => inputTokens))}</td><td class="num">${formatCount(sum(({ outputTokens }) => outputTokens))}</td><td class="num">${formatCount(sum(({ callsWithTokens }) => callsWithTokens))}</td><td class="num">${characters === 0 ? noFigure : formatCount(characters)}</td><td class="num">${audioSeconds === 0 ? noFigure : formatCount(audioSeconds)}</td></tr>`;
  return html`<${Table} caption=${`Usage by ${group}, scrolls sideways`} foot=${foot} head=${html`<th scope="col">${group[0]?.toUpperCase()}${group.slice(1)}</th><th scope="col"><span class="sr">Calls over time</span></th>${head('calls')}${head('errors')}${head('cost')}<th scope="col" class="num">p50 ms</th>${head('p95Ms')}<th scope="col" class="num">p99 ms</th>${head('inputTokens')}${head('outputTokens')}<th scope="col" class="num">Calls with tokens</th><th scope="col" class="num">Characters</th><th scope="col" class="num">Audio, s</th>`}>
    ${sorted.map((row) => {
      const calls = spark(row);
      return html`<tr key=${row[group]}><th scope="row" class=${group === 'model' || group === 'target' ? 'mono' : ''}>${titleOf(row)}</th>
        <td>${calls === undefined ? null : html`<${Spark} values=${calls} label=${`Calls of ${row.model} over time`} />`}</td>
        <td class="num">${formatCount(row.calls)}</td><td class="num">${formatCount(row.errors)}</td><td class="num">${formatMoney(row.cost)}</td>
        <td class="num">${formatMs(row.p50Ms)}</td><td class="num">${formatMs(row.p95Ms)}</td><td class="num">${formatMs(row.p99Ms)}</td>
        <td class="num">${applies(row, row.inputTokens)}</td><td class="num">${applies(row, row.outputTokens)}</td><td class="num">${formatCount(row.callsWithTokens)}</td>
        <td class="num">${row.characters === 0 ? noFigure : formatCount(row.characters)}</td><td class="num">${row.audioSeconds === 0 ? noFigure : formatCount(row.audioSeconds)}</td></tr>`;
    })}
  <//>`;
}
