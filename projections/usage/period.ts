/** Usage is summed up by periods of these lengths. */
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

/** @param time RFC 3339 in UTC */
export function periodOf(length: PeriodLength, time: string): string {
  const ms = periodMs[length];
  return new Date(Math.floor(Date.parse(time) / ms) * ms).toISOString();
}

/** The part of a period's first moment that all periods of its chunk share. */
const chunkCharacters: Readonly<Record<PeriodLength, number>> = {
  minute: '2026-01-05T09'.length,
  'quarter-hour': '2026-01-05'.length,
  hour: '2026-01-05'.length,
  day: '2026-01'.length,
};

/** The 24 to 96 periods that one list reads. @param period its first moment */
export function chunkOf(length: PeriodLength, period: string): string {
  return period.slice(0, chunkCharacters[length]);
}

/** The chunks in order. @param from the first moment of the first period @param until the end */
export function chunksBetween(length: PeriodLength, from: string, until: string): ReadonlyArray<string> {
  const chunks = new Set<string>();
  const last = Date.parse(until);
  for (let time = Date.parse(from); time < last; time += periodMs[length]) {
    chunks.add(chunkOf(length, new Date(time).toISOString()));
  }
  return [...chunks];
}

/**
 * Removes documents of short periods. They are in the slots of a ring, and each event empties the slot that is
 * `emptied` slots behind it. If there was no event in time, the slot is emptied one round later. The other slots of the
 * ring are empty. An event that is late empties one of those, unless it is later than all of them together.
 */
interface Ring {
  readonly slotMs: number;
  readonly slots: number;
  /** The number of slots from the slot of an event to the slot that it empties. */
  readonly emptied: number;
}

/**
 * The numbers of slots are prime, so that over time each slot is used at every hour of the day, or on every day of the
 * week.
 */
const rings: Readonly<Record<PeriodLength, Ring | null>> = {
  minute: { slotMs: hourMs, slots: 211, emptied: 55 },
  'quarter-hour': { slotMs: hourMs, slots: 211, emptied: 55 },
  hour: { slotMs: dayMs, slots: 251, emptied: 94 },
  day: null,
};

/** The minimum time for which periods are kept; null without a limit. */
export function minKeptMs(length: PeriodLength): number | null {
  const ring = rings[length];
  return ring === null ? null : ring.slotMs * (ring.emptied - 1);
}

/** Null if periods are kept permanently. @param period its first moment */
export function slotOf(length: PeriodLength, period: string): number | null {
  const ring = rings[length];
  return ring === null ? null : Math.floor(Date.parse(period) / ring.slotMs) % ring.slots;
}

/** @param time of the event */
export function emptiedSlot(length: PeriodLength, time: string): number | null {
  const ring = rings[length];
  return ring === null ? null : (Math.floor(Date.parse(time) / ring.slotMs) + ring.slots - ring.emptied) % ring.slots;
}
