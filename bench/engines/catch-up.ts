import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { format, interleaved, type Result } from '#bench/measure.ts';
import { openEventStoreDbEventStore } from '#event-store/eventstoredb/eventstoredb-event-store.ts';
import { LogTail } from '#event-store/log-tail.ts';
import { startProjectionRunner } from '#projection-engine/projection-runner.ts';
import { projections } from '#projections/table.ts';
import { openSqliteReadStoreWriter } from '#read-store/sqlite/sqlite-read-store-writer.ts';
import { fillLog } from './fill-log.ts';
import { readAllPerSecond } from './read-all.ts';

const streamPrefix = 'switchyard.';
const events = 60_000;
const rounds = 3;
const timeoutMs = 120_000;
const log = pino({ level: 'warn' });

/**
 * Measures how fast all read models, on SQLite, read a log of EventStoreDB. SQLite makes the event store the part that
 * is measured. Compared with the bare client's `$all` subscription, which ignores the events.
 * @param url of a server with an empty log
 */
export async function catchUp(url: string): Promise<ReadonlyArray<Result>> {
  await fillLog(url, streamPrefix, events);
  const figures = await interleaved(
    [
      { name: 'switchyard', round: () => readModelsPerSecond(url) },
      { name: 'client', round: () => readAllPerSecond(url, events, timeoutMs) },
    ],
    rounds,
  );
  const made = figures.get('switchyard') ?? Number.NaN;
  return [
    {
      what: `catch-up into read models (${format(made)} events/s)`,
      figure: made / (figures.get('client') ?? Number.NaN),
      unit: " × bare client's $all",
      required: 0.4,
      aim: 0.7,
    },
  ];
}

async function readModelsPerSecond(url: string): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'switchyard-bench-'));
  const source = openEventStoreDbEventStore({ url, streamPrefix, log });
  const tail = new LogTail({ pages: source, log });
  const store = openSqliteReadStoreWriter(join(folder, 'read.db'), (message) => log.warn(message));
  const started = performance.now();
  const runner = await startProjectionRunner({ projections, events: source, tail, store, log });
  try {
    while (!runner.ready()) {
      if (performance.now() - started > timeoutMs) throw new Error('The read models did not catch up.');
      await sleep(2);
    }
    return perSecond(started);
  } finally {
    await runner.close();
    await store.close();
    await tail.close();
    await source.close();
    await rm(folder, { recursive: true });
  }
}

function perSecond(started: number): number {
  return (events / (performance.now() - started)) * 1_000;
}
