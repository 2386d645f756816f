import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Checkout, here } from '#bench/beside/checkout.ts';
import { print } from '#bench/measure.ts';
import { LogTail } from '#event-store/log-tail.ts';
import { ensureReadable } from '#event-store/recorded-event.ts';
import { openSqliteEventStore } from '#event-store/sqlite/sqlite-event-store.ts';
import { preparedName, writeLogOf } from './log-of-version.ts';

const readTimeoutMs = 300_000;
const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** The default number of events in a log. */
export const defaultEvents = 1_000_000;

/** Returns the number of events that a benchmark's arguments name. */
export function eventsOf([text]: ReadonlyArray<string>): number {
  return text === undefined ? defaultEvents : Number(text);
}

/**
 * Creates a log of that many events once in the temporary folder.
 * @param checkout the version that will read it
 * @returns the path of its file
 */
export async function prepareLog(events: number, checkout: Checkout = here): Promise<string> {
  const folder = join(tmpdir(), preparedName(`switchyard-bench-sealed-${events}`, checkout));
  const file = join(folder, 'events.db');
  if (checkout === here ? await isReadable(file) : existsSync(file)) return file;
  await rm(folder, { recursive: true, force: true });
  print(`Making a log of ${events} events in ${folder}, once.`);
  const unfinished = `${folder}-unfinished`;
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(unfinished);
  await writeLogOf(checkout, join(unfinished, 'events.db'), events);
  await rename(unfinished, folder);
  return file;
}

/** Returns whether a log exists that this release can read. */
async function isReadable(file: string): Promise<boolean> {
  if (!existsSync(file)) return false;
  return openSqliteEventStore({ file }).then(
    async (store) => {
      await store.close();
      return true;
    },
    () => false,
  );
}

/** Measures the events that are only read and parsed in a second. */
export async function parsedPerSecond(file: string): Promise<number> {
  const store = await openSqliteEventStore({ file });
  const started = performance.now();
  let count = 0;
  const tail = new LogTail({ pages: store, log: quiet });
  for await (const { events } of tail.past({ after: 0, signal: AbortSignal.timeout(readTimeoutMs) })) {
    // An event of a page is parsed when its data is first read.
    for (const event of events) ensureReadable(event);
    count += events.length;
  }
  const seconds = (performance.now() - started) / 1000;
  await tail.close();
  await store.close();
  return count / seconds;
}
