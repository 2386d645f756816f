import type { VNode } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { setSearch } from '#dashboard/page/app/routing/location.ts';
import { projectsIn } from '#dashboard/page/app/session/scope.ts';
import { useScope } from '#dashboard/page/app/session/scope-menu.ts';
import { html } from '#dashboard/page/html.ts';
import { Segments } from '#dashboard/page/parts/basics.ts';
import { Card, Loaded, PageHead } from '#dashboard/page/parts/boxes.ts';
import { LineChart } from '#dashboard/page/parts/charts/line-chart.ts';
import { SelectField } from '#dashboard/page/parts/fields.ts';
import { Axis } from '#dashboard/page/parts/panel.ts';
import { useNames } from '#dashboard/page/parts/who.ts';
import { formatMoney, roundTop } from '#dashboard/page/text/numbers.ts';
import { type GatewayReport, perHour } from '#dashboard/page/views/gateway/gateway-report.ts';
import { Playground } from '#dashboard/page/views/gateway/playground.ts';
import { FailoverCard, HealthCard, RoutesCard } from '#dashboard/page/views/gateway/routes-card.ts';
import { TrafficPanels } from '#dashboard/page/views/gateway/traffic-panels.ts';
import { UsageCard } from '#dashboard/page/views/gateway/usage-card.ts';
import { pickRange, rangeIn, ranges, useGateway } from '#dashboard/page/views/gateway/use-gateway.ts';

export function GatewayView({ search }: { search: URLSearchParams }): VNode {
  const names = useNames();
  const { scope } = useScope();
  const range = rangeIn(search);
  const projectId = search.get('project') ?? '';
  const narrowed = { projectId, organizationId: scope.organizationId };
  const gateway = useGateway(range, narrowed);
  const projects = projectsIn(names, scope).map(({ id }) => ({ value: id, text: names.ofProject(id) }));
  const actions = html`<${SelectField} label="Project" hideLabel=${true} value=${projectId} options=${[{ value: '', text: 'All projects' }, ...projects]} onPick=${(project: string) => setSearch({ project })} />
    <${Segments} label="Time shown" value=${range.value} options=${ranges} onPick=${pickRange} />`;
  const hasHealth = gateway.value !== null && gateway.value.health !== null;
  return html`<${PageHead} title="Gateway" actions=${actions} />
    <${Loaded} data=${gateway} rows=${4}>${(answer: GatewayReport) => html`<${TrafficPanels} answer=${answer} range=${range.text} />`}<//>
    <div class=${hasHealth ? 'grid aside' : 'stack'}>
      ${gateway.value === null || !hasHealth ? null : html`<div class="stack"><${RoutesCard} answer=${gateway.value} /><${HealthCard} answer=${gateway.value} /></div>`}
      <div class="stack"><${Playground} /></div>
    </div>
    <${UsageCard} range=${range} narrowed=${narrowed} answer=${gateway.value} />
    ${gateway.value === null ? null : html`<div class="grid half level"><${CostCard} answer=${gateway.value} range=${range.text} /><${FailoverCard} answer=${gateway.value} /></div>`}`;
}

function CostCard({ answer, range }: { answer: GatewayReport; range: string }): VNode {
  const [at, setAt] = useState<number | null>(null);
  const times = useMemo(() => answer.times.map((time) => Date.parse(time)), [answer.times]);
  const now = perHour(answer.series.cost, answer);
  const before = perHour(answer.previous?.series.cost ?? [], { ...answer, times: [] });
  const top = roundTop(Math.max(0, ...now.map((value) => value ?? 0), ...before.map((value) => value ?? 0)));
  const { cost } = answer.totals;
  const pointed = at === null ? null : now[at];
  return html`<${Card} id="cost" title="Cost an hour" note=${pointed ? formatMoney(pointed) : cost === null ? 'no price is configured' : `${formatMoney(cost)} in ${range}`}>
    <div class="body">
      <${LineChart} label=${`Cost an hour over ${range}: ${formatMoney(cost)} in all`} times=${times} top=${top} topLabel=${formatMoney(top)} row="cost" onPoint=${setAt}
        curves=${[{ values: now, colour: '--series-1' }, ...(before.length === 0 ? [] : [{ values: before, colour: '--series-5', isBefore: true }])]} />
      <${Axis} times=${times} />
      <ul class="legend"><li><span class="key k1"></span>these ${range}</li><li><span class="key k5"></span>the ${range} before</li></ul>
    </div>
  <//>`;
}
