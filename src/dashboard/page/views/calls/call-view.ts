import type { VNode } from 'preact';
import type { RecordedCall } from '#dashboard/page/api/records.ts';
import { useData } from '#dashboard/page/app/data/use-data.ts';
import { addressOf } from '#dashboard/page/app/routing/router.ts';
import { html } from '#dashboard/page/html.ts';
import { Badge, Copy, Time } from '#dashboard/page/parts/basics.ts';
import { Card, Loaded, PageHead } from '#dashboard/page/parts/boxes.ts';
import { ActorName } from '#dashboard/page/parts/who.ts';
import { formatCount, formatDuration, formatMoney } from '#dashboard/page/text/numbers.ts';
import { AttemptBars } from '#dashboard/page/views/calls/attempt-bars.ts';
import { outcomeTone } from '#dashboard/page/views/calls/outcomes.ts';

/** Shows all calls with one request id. */
export function CallView({ id, search }: { id: string; search: URLSearchParams }): VNode {
  const projectId = search.get('projectId') ?? '';
  const query = projectId === '' ? '' : `?projectId=${encodeURIComponent(projectId)}`;
  const found = useData<{ calls: ReadonlyArray<RecordedCall> }>(`/v1/gateway/calls/${encodeURIComponent(id)}${query}`, {
    kinds: [],
  });
  const back = html`<a class="btn" href=${addressOf('calls', null, { projectId })}>All calls</a>`;
  return html`<${PageHead} title="Call" actions=${back} facts=${[['Request', html`<${Copy} text=${id} label="request id" />`]]} />
    <${Loaded} data=${found} rows=${6}>${({ calls }: { calls: ReadonlyArray<RecordedCall> }) =>
      html`${calls.map((call, index) => html`<${CallCard} key=${index} call=${call} />`)}`}<//>`;
}

function CallCard({ call }: { call: RecordedCall }): VNode {
  const { outcome, reason, model, operation, streamed, attempts, totalMs, firstContentMs, batchId } = call;
  const title = html`${model} <${Badge} tone=${outcomeTone(outcome)}>${outcome.replace('-', ' ')}<//>`;
  const amounts: ReadonlyArray<readonly [string, unknown]> = [
    ['Time', html`<${Time} at=${call.time} />`],
    ['Operation', `${operation}${streamed ? ', streamed' : ''}`],
    ['Key', html`<${ActorName} actor=${{ keyId: call.keyId, keyType: '' }} />`],
    ...(reason === null ? [] : [['Reason', html`<code>${reason}</code>`] as const]),
    ['Total', formatDuration(totalMs)],
    ['First content', formatDuration(firstContentMs)],
    ...(call.inputTokens === null
      ? []
      : [['Tokens', `${formatCount(call.inputTokens)} in, ${formatCount(call.outputTokens)} out`] as const]),
    ...(call.characters === null ? [] : [['Characters', formatCount(call.characters)] as const]),
    ...(call.audioSeconds === null ? [] : [['Audio', formatDuration(call.audioSeconds * 1_000)] as const]),
    ...(call.cost === undefined ? [] : [['Cost', formatMoney(call.cost)] as const]),
    ...(batchId === null ? [] : [['Batch', html`<${Copy} text=${batchId} label="batch id" />`] as const]),
  ];
  return html`<${Card} title=${title} label=${`Call of ${model}`}>
    <div class="body">
      <${AttemptBars} attempts=${attempts} totalMs=${totalMs} />
      <dl class="kv">${amounts.map(([name, value]) => html`<dt key=${`${name} name`}>${name}</dt><dd key=${name}>${value}</dd>`)}</dl>
    </div>
  <//>`;
}
