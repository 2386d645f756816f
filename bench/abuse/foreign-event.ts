import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { binaryEvent, EventStoreDBClient } from '@eventstore/db-client';
import { startService } from '#bench/http-processes/processes.ts';
import type { Result } from '#bench/measure.ts';
import { EventStoreDbDoubleProcess } from '#test/support/eventstoredb/double-process.ts';
import type { AbuseScenario } from './scenario.ts';

const settleMs = 7_000;
const restSeconds = 10;

/** Another application on the same EventStoreDB stores a large event, and then nobody does anything. */
const foreignEvent: AbuseScenario = {
  title: 'an event of 1 MB of another application',
  attack: async () => {
    const folder = await mkdtemp(join(tmpdir(), 'switchyard-abuse-'));
    const double = await EventStoreDbDoubleProcess.start();
    const service = await startService(folder, { EVENT_STORE_URL: double.url });
    const client = EventStoreDBClient.connectionString(double.url);
    try {
      await client.appendToStream('other-application', binaryEvent({ type: 'Stored', data: Buffer.alloc(1_000_000) }));
      await sleep(settleMs);
      return await atRest(double);
    } finally {
      await client.dispose();
      await service.stop();
      await double.end();
      await rm(folder, { recursive: true, force: true });
    }
  },
};

async function atRest(double: EventStoreDbDoubleProcess): Promise<ReadonlyArray<Result>> {
  const [bytes, calls] = [await double.bytesSent(), await sumOfCalls(double)];
  await sleep(restSeconds * 1_000);
  const kilobytes = ((await double.bytesSent()) - bytes) / 1_000 / restSeconds;
  const reads = ((await sumOfCalls(double)) - calls) / restSeconds;
  return [
    { what: 'what a node at rest reads from EventStoreDB', figure: kilobytes, unit: ' kB/s', required: 20, aim: 5 },
    { what: 'reads of a node at rest', figure: reads, unit: '/s', required: 2, aim: 1.5 },
  ];
}

async function sumOfCalls(double: EventStoreDbDoubleProcess): Promise<number> {
  return Object.values(await double.calls()).reduce((sum, count) => sum + count, 0);
}

export default foreignEvent;
