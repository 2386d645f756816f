import type { VNode } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { html } from '#dashboard/page/html.ts';
import { Panel } from '#dashboard/page/parts/panel.ts';
import {
  durationFigure,
  type Figure,
  formatCount,
  formatDuration,
  formatFigure,
  noFigure,
  percentOf,
} from '#dashboard/page/text/numbers.ts';
import { errorPercents, type GatewayReport, newest, perMinute } from '#dashboard/page/views/gateway/gateway-report.ts';
import { incidentsOf, incidentText } from '#dashboard/page/views/gateway/incidents.ts';

const operationColours = ['--series-3', '--series-2', '--series-4'] as const;
const operationKeys = ['k3', 'k2', 'k4'] as const;

export const rate = (value: number | null): Figure => ({ value: formatFigure(value), unit: '' });
export const percent = (value: number | null): Figure =>
  value === null ? { value: noFigure, unit: '' } : { value: formatFigure(Math.round(value * 10) / 10), unit: '%' };

/** All panels share one crosshair. */
export function TrafficPanels({ answer, range }: { answer: GatewayReport; range: string }): VNode {
  const [at, setAt] = useState<number | null>(null);
  const { series, totals, times: given } = answer;
  const times = useMemo(() => given.map((time) => Date.parse(time)), [given]);
  const incidents = useMemo(() => incidentsOf(answer), [answer]);
  const incidentWords = incidentText(incidents, Date.now());
  const row = { name: 'traffic', times, at, onPoint: setAt, bands: incidents };
  const calls = perMinute(series.calls, answer);
  const others = answer.operations.filter(({ operation }) => operation !== 'chat').slice(0, operationColours.length);
  const errors = errorPercents(series.calls, series.errors);
  const errorShare = percentOf(totals.errors, totals.calls);
  const operationCurves = others.map((each, index) => ({
    values: perMinute(each.calls, answer),
    colour: operationColours[index] ?? '--series-4',
  }));
  const latency = (p50: typeof series.p50Ms, p95: typeof series.p95Ms, p99: typeof series.p99Ms) => [
    { values: p95, colour: '--ramp-2' },
    { values: p50, colour: '--ramp-1' },
    { values: p99, colour: '--ramp-3' },
  ];
  const percentiles = (p50: number | null, p95: number | null, p99: number | null) => html`
    <li><span class="key r1"></span>p50 <b>${formatDuration(p50)}</b></li><li><span class="key r2"></span>p95 <b>${formatDuration(p95)}</b></li><li><span class="key r3"></span>p99 <b>${formatDuration(p99)}</b></li>`;
  return html`<h2 class="sr">Traffic, errors and latency</h2>
    <div class="panels four">
      <${Panel} title="Calls a minute" row=${row} figure=${rate(newest(calls))} delta=${`${formatCount(totals.calls)} in ${range}`} format=${rate}
        curves=${[{ values: calls, colour: '--series-1' }, ...operationCurves]} label=${`Calls a minute over ${range}: ${formatCount(totals.calls)} in all${incidentWords}`}
        legend=${html`<li><span class="key k1"></span>all</li>${incidents.length === 0 ? null : html`<li><span class="key block band"></span>a target got no calls</li>`}${others.map(({ operation, total }, index) => html`<li key=${operation}><span class=${`key ${operationKeys[index]}`}></span>${operation} <b>${formatCount(total)}</b></li>`)}`} />
      <${Panel} title="Errors" row=${row} figure=${percent(errorShare)} delta=${totals.calls === 0 ? 'no calls' : `${formatCount(totals.errors)} of ${formatCount(totals.calls)}`} format=${percent}
        curves=${[{ values: errors, colour: '--series-2' }]} label=${`Share of calls that failed or broke off over ${range}: ${formatCount(totals.errors)} of ${formatCount(totals.calls)}${incidentWords}`}
        legend=${html`<li>failed <b>${formatCount(totals.failed)}</b></li><li>broken off <b>${formatCount(totals.brokenOff)}</b></li><li>refused <b>${formatCount(totals.refused)}</b></li>`} />
      <${Panel} title="First content" row=${row} figure=${durationFigure(totals.firstContentP95Ms)} delta="p95" format=${durationFigure}
        curves=${latency(series.firstContentP50Ms, series.firstContentP95Ms, series.firstContentP99Ms)} label=${`Time to the first content over ${range}, p50, p95 and p99${incidentWords}`}
        legend=${percentiles(totals.firstContentP50Ms, totals.firstContentP95Ms, totals.firstContentP99Ms)} />
      <${Panel} title="Whole answer" row=${row} figure=${durationFigure(totals.p95Ms)} delta="p95" format=${durationFigure}
        curves=${latency(series.p50Ms, series.p95Ms, series.p99Ms)} label=${`Time to the end of the answer over ${range}, p50, p95 and p99${incidentWords}`}
        legend=${percentiles(totals.p50Ms, totals.p95Ms, totals.p99Ms)} />
    </div>`;
}
