import { randomUUID } from 'node:crypto';
import { EventStoreDBClient, jsonEvent, NO_STREAM } from '@eventstore/db-client';
import * as E from 'fp-ts/lib/Either.js';
import { pino } from 'pino';
import { callsPerSecond, format, interleaved, type Result } from '#bench/measure.ts';
import { noStream } from '#event-store/event-store.ts';
import { openEventStoreDbEventStore } from '#event-store/eventstoredb/eventstoredb-event-store.ts';

const inFlight = 64;
const rounds = 5;
const roundMs = 1_500;
const dataBytes = 500;

const data = { text: 'x'.repeat(dataBytes - JSON.stringify({ text: '' }).length) };
const metadata = { schemaVersion: 1 };
const dataText = JSON.stringify(data);
const metadataText = JSON.stringify(metadata);

/**
 * Appends of one 500-byte event to a new stream, 64 in flight: through the port, and by the bare client (in batches, as
 * it does by default, and one call each).
 * @param url of the server
 */
export async function appends(url: string): Promise<ReadonlyArray<Result>> {
  const store = openEventStoreDbEventStore({ url, streamPrefix: 'bench.', log: pino({ level: 'warn' }) });
  const client = EventStoreDBClient.connectionString(url);
  const bare = (options: object) => async () => {
    const event = jsonEvent({ type: 'SomethingHappened', data, metadata });
    await client.appendToStream(`bench-${randomUUID()}`, event, { expectedRevision: NO_STREAM, ...options });
  };
  const through = async () => {
    const event = { id: randomUUID(), type: 'SomethingHappened', data: dataText, metadata: metadataText };
    const outcome = await store.append(`bench-${event.id}`, noStream, [event]);
    if (E.isLeft(outcome)) throw new Error(`An append was refused: ${JSON.stringify(outcome.left)}`);
  };
  const contestant = (name: string, call: () => Promise<void>) => ({
    name,
    round: () => callsPerSecond(inFlight, roundMs, call),
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
    const against = (yardstick: string) => (figures.get('switchyard') ?? 0) / (figures.get(yardstick) ?? 0);
    const bounds = { required: 0.7, aim: 0.9 };
    const what = `appends, ${inFlight} in flight (${format(figures.get('switchyard') ?? 0)}/s)`;
    return [
      { what, figure: against('client, single calls'), unit: " × bare client's single calls", ...bounds },
      { what, figure: against('client, batches'), unit: " × bare client's batches", ...bounds },
    ];
  } finally {
    await store.close();
    await client.dispose();
  }
}
