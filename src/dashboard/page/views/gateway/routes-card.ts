import type { VNode } from 'preact';
import type { TargetStatus } from '#dashboard/page/api/records.ts';
import { html } from '#dashboard/page/html.ts';
import { Badge, Time } from '#dashboard/page/parts/basics.ts';
import { Card, Empty, Table } from '#dashboard/page/parts/boxes.ts';
import { countOf, formatCount, formatMs } from '#dashboard/page/text/numbers.ts';
import {
  type GatewayReport,
  healthOf,
  type RouteHealth,
  routesOf,
} from '#dashboard/page/views/gateway/gateway-report.ts';

/** Shows the routes of each model with several targets. */
export function RoutesCard({ answer }: { answer: GatewayReport }): VNode {
  const routes = routesOf(answer);
  return html`<${Card} id="routes" title="Routes" note="the target of each model’s calls now" aside=${html`<span class="small faint">${countOf(routes.length, 'model')} with a fallback</span>`}>
    ${
      routes.length === 0
        ? html`<${Empty} title="No model has a fallback">With a second target in the gateway’s configuration, calls still get answers when the first one fails.<//>`
        : html`<ul class="routes">${routes.map((route) => html`<${RouteItem} key=${route.model} route=${route} />`)}</ul>`
    }
  <//>`;
}

function RouteItem({ route }: { route: RouteHealth }): VNode {
  const { model, first, carrying, other, calls, share } = route;
  const isDiverted = carrying !== first;
  const { word, tone } = healthOf(first);
  const carried = share === null ? 'no calls yet' : `${share}%, ${countOf(calls, 'call')}`;
  const label = isDiverted
    ? `${model}: calls go to ${carrying.target} instead of ${first.target} (${word})`
    : `${model}: calls go to ${first.target}; ${other.target} is the fallback`;
  return html`<li>
    <span><strong class="mono">${model}</strong></span>
    <div class="rails">
      <div class="t1"><span><b>${first.target}</b>${isDiverted ? '' : ` ${carried}`}</span><${Badge} tone=${tone} plain=${true}>${word}<//></div>
      <svg viewBox="0 0 100 56" preserveAspectRatio="none" role="img" aria-label=${label}>
        ${isDiverted ? html`<path class="rail" d="M28 14H100" /><path class="rail fallback" d="M0 14H28L38 42H100" />` : html`<path class="rail" d="M28 14L38 42H100" /><path class="rail used" d="M0 14H100" />`}
      </svg>
      <div class="t2"><span><b>${other.target}</b> ${isDiverted ? 'fallback' : ''}</span><span>${isDiverted ? carried : healthOf(other).tone === 'ok' ? 'ready' : healthOf(other).word}</span></div>
    </div>
  </li>`;
}

/** Shows the health in the last minutes, as the answering node has observed it. */
export function HealthCard({ answer }: { answer: GatewayReport }): VNode | null {
  const { health } = answer;
  if (health === null) return null;
  const minutes = Math.round(health.windowSeconds / 60);
  return html`<${Card} id="health" title="Health of targets" note=${`the last ${minutes} min, as node ${health.node} sees them`}>
    <${Table} caption="Health of targets" fold=${true} head=${html`<th scope="col">Target</th><th scope="col">State</th><th scope="col">Serves</th><th scope="col" class="num">Served</th><th scope="col" class="num">Failed</th><th scope="col">Last failure</th><th scope="col" class="num">p95 ms</th>`}>
      ${health.targets.map((target) => html`<${HealthRow} key=${target.target} target=${target} />`)}
    <//>
  <//>`;
}

function HealthRow({ target }: { target: TargetStatus }): VNode {
  const { word, tone } = healthOf(target);
  const { lastFailure, attempts } = target;
  return html`<tr>
    <th scope="row">${target.target}</th><td><${Badge} tone=${tone}>${word}<//></td>
    <td class="muted wide">${target.servesModels.join(', ')}</td>
    <td class="num later" data-l="served">${formatCount(attempts.served)}</td><td class="num later end" data-l="failed">${formatCount(attempts.failed)}</td>
    <td class="later" data-l="last failure">${lastFailure === null ? html`<span class="faint">none</span>` : html`<${Time} at=${lastFailure.time} />, ${lastFailure.status ?? lastFailure.code}`}</td>
    <td class="num later end" data-l="p95 ms">${formatMs(target.p95Ms)}</td>
  </tr>`;
}

const sentences = { open: 'gets no calls', 'half-open': 'gets one trial call', closed: 'gets calls again' } as const;
const shownChanges = 8;

export function FailoverCard({ answer }: { answer: GatewayReport }): VNode | null {
  const changes = answer.health?.circuitChanges ?? null;
  if (changes === null) return null;
  return html`<${Card} id="failovers" title="Failovers" note=${changes.length === 0 ? 'none since the node started' : `${countOf(changes.length, 'change')} since the node started`}>
    ${changes.length === 0 ? html`<${Empty} title="Nothing has failed over">When a target fails several times in a row, its circuit opens and its calls go to the next target.<//>` : null}
    <ol class="feed">${changes
      .slice(0, shownChanges)
      .map(
        ({ time, target, circuit, code, status }, index) =>
          html`<li key=${index}><${Time} at=${time} /><span><strong>${target}</strong> ${sentences[circuit]}${code === null ? '' : `: ${status ?? code}`}</span><span class="who"></span></li>`,
      )}</ol>
  <//>`;
}
