import { countOf } from '#dashboard/page/text/numbers.ts';
import { formatTime } from '#dashboard/page/text/times.ts';
import type { GatewayReport } from '#dashboard/page/views/gateway/gateway-report.ts';

/** A time in which circuits of targets were open. In ms. */
export interface Incident {
  readonly from: number;
  readonly until: number;
  readonly targets: ReadonlyArray<string>;
}

/**
 * The incidents that the answering node has recorded, oldest first. Overlapping times are one. Half-open counts as
 * open. The list is empty for keys that may not see targets.
 */
export function incidentsOf({
  health,
  from,
  until,
}: Pick<GatewayReport, 'health' | 'from' | 'until'>): ReadonlyArray<Incident> {
  const start = Date.parse(from);
  const end = Date.parse(until);
  return joinOverlapping(outagesOf(health, end))
    .filter((incident) => incident.until > start && incident.from < end)
    .map((incident) => ({
      ...incident,
      from: Math.max(start, incident.from),
      until: Math.min(end, incident.until),
    }));
}

/** The outages of each circuit. @param end of outages that have not ended */
function outagesOf(health: GatewayReport['health'], end: number): ReadonlyArray<Incident> {
  const outages: Incident[] = [];
  const since = new Map<string, number>();
  for (const { time, target, circuit } of (health?.circuitChanges ?? []).toReversed()) {
    const began = since.get(target);
    if (circuit === 'open') since.set(target, began ?? Date.parse(time));
    if (circuit !== 'closed' || began === undefined) continue;
    since.delete(target);
    outages.push({ from: began, until: Date.parse(time), targets: [target] });
  }
  return [...outages, ...[...since].map(([target, began]) => ({ from: began, until: end, targets: [target] }))];
}

function joinOverlapping(outages: ReadonlyArray<Incident>): ReadonlyArray<Incident> {
  const incidents: Incident[] = [];
  for (const outage of outages.toSorted((one, other) => one.from - other.from)) {
    const last = incidents.at(-1);
    if (last === undefined || outage.from > last.until) incidents.push(outage);
    else
      incidents[incidents.length - 1] = {
        from: last.from,
        until: Math.max(last.until, outage.until),
        targets: [...new Set([...last.targets, ...outage.targets])],
      };
  }
  return incidents;
}

/** The text of a chart's description: the last incident and the number of earlier ones. */
export function incidentText(incidents: ReadonlyArray<Incident>, now: number, zone?: string): string {
  const last = incidents.at(-1);
  if (last === undefined) return '';
  const before = incidents.length === 1 ? '' : `, after ${countOf(incidents.length - 1, 'earlier incident')}`;
  const times = `${formatTime(last.from, now, zone)} to ${formatTime(last.until, now, zone)}`;
  return `; ${last.targets.join(', ')} got no calls from ${times}${before}`;
}
