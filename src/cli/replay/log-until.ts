import { type LogPage, type LogPages, pageWith } from '#event-store/log-pages.ts';
import { pagesOf, type RawLog } from '#event-store/transfer/raw-log.ts';
import { aborted } from '#shared/async/timed-waits.ts';

export function logUntil(log: LogPages, last: number): LogPages {
  return {
    lastPosition: async () => Math.min(last, await log.lastPosition()),
    readPage: async (request) => untilPosition(await log.readPage(request), last),
    eventAt: (position) => log.eventAt(position),
    changes: {
      waitPast: (_position, signal) => aborted(signal),
      onStreamRemoved: (listener) => log.changes.onStreamRemoved(listener),
      onDoubt: (listener) => log.changes.onDoubt(listener),
    },
  };
}

function untilPosition(page: LogPage, last: number): LogPage {
  if (page.position < last) return page;
  const events = page.events.filter(({ position }) => position <= last);
  return pageWith({ ...page, position: Math.max(last, page.after), isEnd: true }, events);
}

export interface LogPlace {
  /** The position of the last event up to this place; 0 without one. */
  readonly position: number;
  /** The time of that event; null without one. */
  readonly time: string | null;
  readonly events: number;
}

/**
 * Finds the last event before the first one for which `isAfter` holds.
 * @throws UnavailableError; the signal's reason
 */
export async function findPlace(
  log: RawLog,
  isAfter: (position: number, time: string) => boolean,
  report: (events: number, fraction: number) => void,
  signal: AbortSignal,
): Promise<LogPlace> {
  const end = await log.lastPosition();
  let place: LogPlace = { position: 0, time: null, events: 0 };
  for await (const page of pagesOf(log, end)) {
    signal.throwIfAborted();
    for (const { position, metadata } of page) {
      const time = timeIn(metadata);
      if (isAfter(position, time)) return place;
      place = { position, time, events: place.events + 1 };
    }
    report(place.events, place.position / end);
  }
  return place;
}

function timeIn(metadata: string): string {
  const { time } = JSON.parse(metadata) as { readonly time: string };
  return time;
}
