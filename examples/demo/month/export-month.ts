import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { openLog } from '#app/stores/open-log.ts';
import type { StoredEvent } from '#event-store/event-store.ts';
import { eventLine } from '#event-store/transfer/log-file/event-line.ts';
import { LogCheck } from '#event-store/transfer/log-file/log-check.ts';
import { firstLine, lastLine } from '#event-store/transfer/log-file/log-file.ts';
import { eventsOf } from '#event-store/transfer/raw-log.ts';

/**
 * Writes the month in the order of the events' times. @param folder of a stopped service @param usage in the order of
 * their times @param file is written
 */
export async function exportMonth(folder: string, usage: ReadonlyArray<StoredEvent>, file: string): Promise<void> {
  const { log, kind, close } = await openLog({ kind: 'sqlite', path: join(folder, 'events.db') });
  try {
    const check = new LogCheck();
    const lines = async function* () {
      yield firstLine(kind, new Date());
      for await (const event of merged(eventsOf(log, await log.lastPosition()), usage)) {
        const line = `${eventLine(event)}\n`;
        check.add(event, line);
        yield line;
      }
      yield lastLine(check.summary());
    };
    await pipeline(Readable.from(lines()), createWriteStream(file));
  } finally {
    await close();
  }
}

async function* merged(
  events: AsyncIterable<StoredEvent>,
  usage: ReadonlyArray<StoredEvent>,
): AsyncGenerator<StoredEvent, void, void> {
  let next = 0;
  for await (const event of events) {
    const time = timeOf(event);
    for (let earlier = usage[next]; earlier !== undefined && timeOf(earlier) < time; earlier = usage[next]) {
      yield earlier;
      next += 1;
    }
    yield event;
  }
  yield* usage.slice(next);
}

function timeOf({ metadata }: StoredEvent): string {
  return (JSON.parse(metadata) as { time: string }).time;
}
