import { countOf } from '#dashboard/page/text/numbers.ts';
import { formatTime } from '#dashboard/page/text/times.ts';
import type { GatewayAnswer } from '#dashboard/page/views/gateway/gateway-answer.ts';

/** A time in which targets rested. In ms. */
export interface Incident {
  readonly from: number;
  readonly until: number;
  readonly targets: ReadonlyArray<string>;
}

/**
 * The times in which targets rested, as the answering node has seen them: the oldest first, and those that overlap as
 * one. A target that is being tried still rests. None for those who may not see targets.
 */
export function incidentsOf({
  health,
  from,
  until,
}: Pick<GatewayAnswer, 'health' | 'from' | 'until'>): ReadonlyArray<Incident> {
  const start = Date.parse(from);
  const end = Date.parse(until);
  return joined(restsOf(health, end))
    .filter((incident) => incident.until > start && incident.from < end)
    .map((incident) => ({
      ...incident,
      from: Math.max(start, incident.from),
      until: Math.min(end, incident.until),
    }));
}

/** Each rest of each target. @param end the end of those that last */
function restsOf(health: GatewayAnswer['health'], end: number): ReadonlyArray<Incident> {
  const rests: Incident[] = [];
  const since = new Map<string, number>();
  for (const { time, target, circuit } of (health?.circuitChanges ?? []).toReversed()) {
    const began = since.get(target);
    if (circuit === 'open') since.set(target, began ?? Date.parse(time));
    if (circuit !== 'closed' || began === undefined) continue;
    since.delete(target);
    rests.push({ from: began, until: Date.parse(time), targets: [target] });
  }
  return [...rests, ...[...since].map(([target, began]) => ({ from: began, until: end, targets: [target] }))];
}

function joined(rests: ReadonlyArray<Incident>): ReadonlyArray<Incident> {
  const incidents: Incident[] = [];
  for (const rest of rests.toSorted((one, other) => one.from - other.from)) {
    const last = incidents.at(-1);
    if (last === undefined || rest.from > last.until) incidents.push(rest);
    else
      incidents[incidents.length - 1] = {
        from: last.from,
        until: Math.max(last.until, rest.until),
        targets: [...new Set([...last.targets, ...rest.targets])],
      };
  }
  return incidents;
}

/** Incidents as a part of the sentence that describes a chart: the last one, and how many were before it. */
export function incidentText(incidents: ReadonlyArray<Incident>, now: number, zone?: string): string {
  const last = incidents.at(-1);
  if (last === undefined) return '';
  const before = incidents.length === 1 ? '' : `, after ${countOf(incidents.length - 1, 'earlier incident')}`;
  const times = `${formatTime(last.from, now, zone)} to ${formatTime(last.until, now, zone)}`;
  return `; ${last.targets.join(', ')} rested from ${times}${before}`;
}
