/** How long the periods are that usage is summed up by. */
export type PeriodLength = 'minute' | 'quarter-hour' | 'hour' | 'day';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

export const periodMs: Readonly<Record<PeriodLength, number>> = {
  minute: minuteMs,
  'quarter-hour': 15 * minuteMs,
  hour: hourMs,
  day: dayMs,
};

/** The first moment of the period in which a time lies. @param time RFC 3339 in UTC */
export function periodOf(length: PeriodLength, time: string): string {
  const ms = periodMs[length];
  return new Date(Math.floor(Date.parse(time) / ms) * ms).toISOString();
}

/** Characters of a period's first moment that all periods of its chunk share. */
const chunkCharacters: Readonly<Record<PeriodLength, number>> = {
  minute: '2026-01-05T09'.length,
  'quarter-hour': '2026-01-05'.length,
  hour: '2026-01-05'.length,
  day: '2026-01'.length,
};

/** The chunk of a period: what one list reads. 24 to 96 periods make one. @param period its first moment */
export function chunkOf(length: PeriodLength, period: string): string {
  return period.slice(0, chunkCharacters[length]);
}

/** The chunks of all periods of a range, in order. @param from first moment of the first period @param until the end */
export function chunksBetween(length: PeriodLength, from: string, until: string): ReadonlyArray<string> {
  const chunks = new Set<string>();
  const last = Date.parse(until);
  for (let time = Date.parse(from); time < last; time += periodMs[length]) {
    chunks.add(chunkOf(length, new Date(time).toISOString()));
  }
  return [...chunks];
}

/**
 * How documents of short periods go away: they lie in slots of a ring, and each event empties the one slot that is so
 * many behind it. What time has passed over without a single call is removed a round later. The others of the ring are
 * empty: a window that comes late empties one of these, unless it is as late as all of them are long.
 */
interface Ring {
  readonly slotMs: number;
  readonly slots: number;
  /** How many slots behind an event the one is that it empties. */
  readonly emptied: number;
}

/** Numbers of slots are prime: each comes at every hour of the day, or on every day of the week, in turn. */
const rings: Readonly<Record<PeriodLength, Ring | null>> = {
  minute: { slotMs: hourMs, slots: 211, emptied: 55 },
  'quarter-hour': { slotMs: hourMs, slots: 211, emptied: 55 },
  hour: { slotMs: dayMs, slots: 251, emptied: 94 },
  day: null,
};

/** How long documents of periods are kept at least, in ms; null for ever. */
export function keptMs(length: PeriodLength): number | null {
  const ring = rings[length];
  return ring === null ? null : ring.slotMs * (ring.emptied - 1);
}

/** The slot of a period; null where periods are kept for ever. @param period its first moment */
export function slotOf(length: PeriodLength, period: string): number | null {
  const ring = rings[length];
  return ring === null ? null : Math.floor(Date.parse(period) / ring.slotMs) % ring.slots;
}

/** The slot that an event empties. @param time of the event */
export function emptiedSlot(length: PeriodLength, time: string): number | null {
  const ring = rings[length];
  return ring === null ? null : (Math.floor(Date.parse(time) / ring.slotMs) + ring.slots - ring.emptied) % ring.slots;
}
