import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { EventStoreDBClient, jsonEvent, NO_STREAM } from '@eventstore/db-client';
import * as E from 'fp-ts/lib/Either.js';
import { pino } from 'pino';
import { noStream } from '#event-store/event-store.ts';
import { openEventStoreDbEventStore } from '#event-store/eventstoredb/eventstoredb-event-store.ts';
import { callsPerSecond, format, interleaved, printResults, printTable } from './measure.ts';

const inFlight = 64;
const rounds = 5;
const roundMilliseconds = 1_500;
const dataBytes = 500;

const data = { text: 'x'.repeat(dataBytes - JSON.stringify({ text: '' }).length) };
const metadata = { schemaVersion: 1 };
const dataText = JSON.stringify(data);
const metadataText = JSON.stringify(metadata);

/**
 * Appends of one 500-byte event to a new stream, 64 in flight: through the port, and by the bare client (in batches, as
 * it does by default, and one call each), on one server: the double in a process of its own, or EVENTSTOREDB_TEST_URL.
 */
export default async function enginesAppend(): Promise<void> {
  const server = process.env.EVENTSTOREDB_TEST_URL === undefined ? startDouble() : null;
  const url = process.env.EVENTSTOREDB_TEST_URL ?? (await urlOf(server));
  const store = openEventStoreDbEventStore({ url, log: pino({ level: 'warn' }) });
  const client = EventStoreDBClient.connectionString(url);
  const bare = (options: object) => async () => {
    const event = jsonEvent({ type: 'SomethingHappened', data, metadata });
    await client.appendToStream(`bench-${randomUUID()}`, event, { expectedRevision: NO_STREAM, ...options });
  };
  const through = async () => {
    const event = { id: randomUUID(), type: 'SomethingHappened', data: dataText, metadata: metadataText };
    const outcome = await store.append(`bench-${event.id}`, noStream, [event])();
    if (E.isLeft(outcome)) throw new Error(`An append was refused: ${JSON.stringify(outcome.left)}`);
  };
  const contestant = (name: string, call: () => Promise<void>) => ({
    name,
    round: () => callsPerSecond(inFlight, roundMilliseconds, call),
  });
  try {
    const figures = await interleaved(
      [
        contestant('switchyard', through),
        contestant('client, batches', bare({})),
        contestant('client, single calls', bare({ credentials: { username: 'admin', password: 'changeit' } })),
      ],
      rounds,
    );
    printTable(
      ['appends, 64 in flight', 'a second'],
      [...figures].map(([name, figure]) => [name, format(figure)]),
    );
    const against = (yardstick: string) => (figures.get('switchyard') ?? 0) / (figures.get(yardstick) ?? 0);
    const bounds = { unit: ' ×', required: 0.7, aim: 0.9 };
    printResults([
      { what: 'appends / bare client, single calls', figure: against('client, single calls'), ...bounds },
      { what: 'appends / bare client, its batches', figure: against('client, batches'), ...bounds },
    ]);
  } finally {
    await store.close();
    await client.dispose();
    server?.stdin?.end();
  }
}

function startDouble(): ChildProcess {
  const script = fileURLToPath(new URL('../test/support/eventstoredb/serve.ts', import.meta.url));
  return spawn(process.execPath, [script], { stdio: ['pipe', 'pipe', 'inherit'] });
}

async function urlOf(server: ChildProcess | null): Promise<string> {
  if (server === null || server.stdout === null) throw new Error('The double was not started.');
  const [line] = await once(server.stdout, 'data', { signal: AbortSignal.timeout(10_000) });
  return String(line).trim();
}
