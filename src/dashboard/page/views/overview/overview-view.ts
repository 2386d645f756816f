import type { VNode } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { type Data, useData } from '#dashboard/page/app/data/use-data.ts';
import { addressOf } from '#dashboard/page/app/routing/router.ts';
import { useScope } from '#dashboard/page/app/session/scope-menu.ts';
import { useSession } from '#dashboard/page/app/session/session.ts';
import { html } from '#dashboard/page/html.ts';
import { Segments } from '#dashboard/page/parts/basics.ts';
import { Loaded, PageHead } from '#dashboard/page/parts/boxes.ts';
import { Bars } from '#dashboard/page/parts/charts/sparks.ts';
import { Panel } from '#dashboard/page/parts/panel.ts';
import {
  countOf,
  durationFigure,
  type Figure,
  formatCount,
  formatFigure,
  formatMoney,
  percentOf,
  roundTop,
} from '#dashboard/page/text/numbers.ts';
import { formatAxisTime } from '#dashboard/page/text/times.ts';
import {
  comparison,
  errorPercents,
  type GatewayReport,
  newest,
  perHour,
  perMinute,
} from '#dashboard/page/views/gateway/gateway-report.ts';
import { percent, rate } from '#dashboard/page/views/gateway/traffic-panels.ts';
import { pickRange, rangeIn, ranges, type TimeRange, useGateway } from '#dashboard/page/views/gateway/use-gateway.ts';
import { Attention, type DisabledEndpoints, disabledEndpointsPath } from '#dashboard/page/views/overview/attention.ts';
import { type FirstStep, FirstSteps, firstStepsOf } from '#dashboard/page/views/overview/first-steps.ts';
import { InstancesCard, UpgradesCard } from '#dashboard/page/views/overview/instance-cards.ts';
import { LatestChanges } from '#dashboard/page/views/overview/latest-changes.ts';
import {
  type Activity,
  activityGroups,
  eventsCurve,
  type InstanceFigures,
} from '#dashboard/page/views/overview/overview-answers.ts';
import type { FollowersAnswer } from '#dashboard/page/views/projections/followers.ts';

const refreshMs = 10_000;

export function OverviewView({ search }: { search: URLSearchParams }): VNode {
  const { me } = useSession();
  const { scope } = useScope();
  const range = rangeIn(search);
  const narrowed = scope.organizationId === null ? '' : `organizationId=${scope.organizationId}`;
  const gateway = useGateway(range, scope);
  const instances = useData<InstanceFigures>(`/v1/dashboard/instances?${narrowed}`, { kinds: ['instance'] });
  const activity = useData<Activity>(`/v1/dashboard/activity?${narrowed}`, { everyMs: refreshMs, kinds: [] });
  const hasEndpoints = (activity.value?.counts.webhookEndpoints ?? 0) > 0;
  const disabled = useData<DisabledEndpoints>(hasEndpoints ? disabledEndpointsPath : null, {
    kinds: ['webhook-endpoint'],
  });
  const followers = useData<FollowersAnswer>(me.keyType === 'admin' ? '/v1/dashboard/projections' : null, {
    kinds: ['projection', 'process'],
    everyMs: refreshMs,
  });
  const steps = useFirstSteps(gateway.value, activity.value);
  const [hasFlow = false, hasCall = false] = steps?.map(({ isDone }) => isDone) ?? [];
  const choice = html`<${Segments} label="Time shown" value=${range.value} options=${ranges} onPick=${pickRange} />`;
  return html`<${PageHead} title="Overview" actions=${hasCall ? choice : undefined} />
    <${Attention} followers=${followers.value} gateway=${gateway.value} instances=${instances.value} disabled=${disabled.value} />
    ${steps === null || (hasFlow && hasCall) ? null : html`<${FirstSteps} steps=${steps} />`}
    <${Loaded} data=${gateway} rows=${3}>${(answer: GatewayReport) => (!hasCall ? null : html`<${Figures} answer=${answer} range=${range} activity=${activity.value} followers=${followers.value} />`)}<//>
    <div class="grid two">
      <${LatestChanges} />
      <div class="stack"><${InstancesCard} data=${instances} /><${UpgradesCard} data=${instances} /></div>
    </div>
    ${!hasFlow ? null : html`<${ActivityPanels} activity=${activity} />`}`;
}

const longest = ranges[ranges.length - 1] ?? ranges[0];

/** Reads which steps are done; null until that is known. */
function useFirstSteps(gateway: GatewayReport | null, activity: Activity | null): ReadonlyArray<FirstStep> | null {
  const { scope } = useScope();
  const recent = gateway?.totals.calls ?? null;
  const month = useGateway(recent === 0 ? longest : null, scope).value?.totals.calls ?? null;
  const calls = recent === 0 ? month : recent;
  return calls === null || activity === null ? null : firstStepsOf(activity, calls);
}

interface FiguresProps {
  readonly answer: GatewayReport;
  readonly range: TimeRange;
  readonly activity: Activity | null;
  readonly followers: FollowersAnswer | null;
}

function Figures({ answer, range, activity, followers }: FiguresProps): VNode {
  const [at, setAt] = useState<number | null>(null);
  const { series, totals, previous, times: given } = answer;
  const times = useMemo(() => given.map((time) => Date.parse(time)), [given]);
  const row = { name: 'overview', times, at, onPoint: setAt };
  const calls = perMinute(series.calls, answer);
  const before =
    previous === null
      ? []
      : [{ values: perMinute(previous.series.calls, { ...answer, times: [] }), colour: '--series-5', isBefore: true }];
  const errors = errorPercents(series.calls, series.errors);
  const cost = perHour(series.cost, answer);
  const money = (value: number | null): Figure => ({ value: formatMoney(value), unit: '' });
  const errorShare = percentOf(totals.errors, totals.calls);
  const empty = totals.calls === 0 ? `No calls in ${range.text}. Calls of models fill this chart.` : null;
  const link = (title: string) => html`<a href=${addressOf('gateway')}>${title}</a>`;
  return html`<h2 class="sr">Figures</h2>
    <div class=${followers === null ? 'panels five' : 'panels'}>
      <${Panel} title=${link('Calls a minute')} row=${row} empty=${empty} figure=${rate(newest(calls))} delta=${comparison(totals.calls, previous?.totals.calls ?? 0, range.text)} format=${rate} label=${`Calls a minute over ${range.text}: ${formatCount(totals.calls)} in all; the time before is dotted`}
        curves=${[{ values: calls, colour: '--series-1' }, ...before]} />
      <${Panel} title=${link('Errors')} row=${row} empty=${empty} figure=${percent(errorShare)} delta=${totals.calls === 0 ? 'no calls' : `${formatCount(totals.errors)} of ${formatCount(totals.calls)}`} format=${percent} label=${`Share of calls that failed over ${range.text}: ${formatCount(totals.errors)} of ${formatCount(totals.calls)}`} curves=${[{ values: errors, colour: '--series-2' }]} />
      <${Panel} title=${link('First content, p95')} row=${row} empty=${empty} figure=${durationFigure(totals.firstContentP95Ms)} delta=${range.text} format=${durationFigure} label=${`First content, p95, over ${range.text}`} curves=${[{ values: series.firstContentP95Ms, colour: '--series-1' }]} />
      <${Panel} title=${link('Cost an hour')} row=${row} empty=${empty ?? (totals.cost === null ? 'Give targets a price in the configuration of the gateway.' : null)} figure=${money(totals.cost === null ? null : (cost.at(-1) ?? 0))} delta=${totals.cost === null ? 'no price is configured' : `${formatMoney(totals.cost)} in ${range.text}`} format=${money} label=${`Cost an hour over ${range.text}: ${formatMoney(totals.cost)} in all`} curves=${[{ values: cost, colour: '--series-1' }]} />
      <${EventsPanel} activity=${activity} range=${range} />
      ${followers === null ? null : html`<${LagPanel} followers=${followers} />`}
    </div>`;
}

function EventsPanel({ activity, range }: { activity: Activity | null; range: TimeRange }): VNode {
  const [at, setAt] = useState<number | null>(null);
  const { unit, values, times } = useMemo(
    () => (activity === null ? ({ unit: 'hour', values: [], times: [] } as const) : eventsCurve(activity, range.ms)),
    [activity, range.ms],
  );
  const row = { name: 'events', times, at, onPoint: setAt };
  const all = activity?.counts.events ?? null;
  return html`<${Panel} title=${html`<a href=${addressOf('audit')}>Events ${unit === 'hour' ? 'an hour' : 'a day'}</a>`} row=${row} figure=${rate(values.at(-1) ?? null)} delta=${all === null ? '' : `${formatCount(all)} in all`} format=${rate}
    label=${`Events by the ${unit}, the last ${countOf(values.length, unit)}`} curves=${[{ values, colour: '--series-1' }]} />`;
}

function LagPanel({ followers }: { followers: FollowersAnswer }): VNode {
  const [at, setAt] = useState<number | null>(null);
  const { past, projections } = followers;
  const times = useMemo(() => past.times.map((time) => Date.parse(time)), [past.times]);
  const row = { name: 'lag', times, at, onPoint: setAt };
  const stopped = projections.filter(({ state }) => state === 'stopped').length;
  const worst = Math.max(0, ...projections.filter(({ state }) => state === 'running').map(({ lagMs }) => lagMs ?? 0));
  return html`<${Panel} title=${html`<a href=${addressOf('projections')}>Read model lag, worst of ${projections.length}</a>`} row=${row} figure=${durationFigure(worst)} delta=${stopped === 0 ? '' : `${stopped} stopped`} deltaTone=${stopped === 0 ? undefined : 'bad'} format=${durationFigure}
    label=${`Lag of the running read models since ${times.length === 0 ? 'now' : formatAxisTime(times[0] ?? 0, false)}`} curves=${[{ values: past.worstLagMs, colour: '--series-1' }]} />`;
}

function ActivityPanels({ activity }: { activity: Data<Activity> }): VNode {
  return html`<div class="section"><h2>Activity</h2><p>events a day${activity.value === null ? '' : `, ${activity.value.days.length} days`}</p></div>
    <${Loaded} data=${activity} rows=${3}>${(known: Activity) => html`<div class="panels five">
      ${activityGroups(known).map(
        ({ title, total, events }) => html`<section class="panel" key=${title}>
          <h3>${title}</h3>
          <p class="figure"><b>${formatFigure(total)}</b> <span class="delta">events</span></p>
          <${Bars} values=${events} top=${roundTop(Math.max(0, ...events))} label=${`${title}, events a day over ${events.length} days: ${total} in all`} />
          <div class="axis"><span>${formatAxisTime(Date.parse(known.from), true)}</span><span>today</span></div>
        </section>`,
      )}
    </div>`}<//>`;
}
