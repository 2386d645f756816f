import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { call, type Server, startService } from '#bench/http-processes/processes.ts';
import type { Result } from '#bench/measure.ts';
import { EventStoreDbDoubleProcess } from '#test/support/eventstoredb/double-process.ts';
import type { AbuseScenario } from './scenario.ts';

const clients = 64;
const pauseMs = 1_200;
const pauses = 3;
const betweenMs = 1_500;

/** EventStoreDB pauses, as for a merge of its index, while clients write. */
const slowEventStore: AbuseScenario = {
  title: 'an EventStoreDB that pauses for 1.2 s',
  attack: async () => {
    const folder = await mkdtemp(join(tmpdir(), 'switchyard-abuse-'));
    const double = await EventStoreDbDoubleProcess.start();
    const service = await startService(folder, { EVENT_STORE_URL: double.url });
    try {
      return [await refusedDuring(service, () => pauseOften(double))];
    } finally {
      double.thaw();
      await service.stop();
      await double.end();
      await rm(folder, { recursive: true, force: true });
    }
  },
};

async function pauseOften(double: EventStoreDbDoubleProcess): Promise<void> {
  for (let pause = 0; pause < pauses; pause += 1) {
    await sleep(betweenMs);
    double.freeze();
    await sleep(pauseMs);
    double.thaw();
  }
  await sleep(betweenMs);
}

/** Counts the writes that are refused while clients write as fast as they are answered. */
async function refusedDuring(service: Server, work: () => Promise<void>): Promise<Result> {
  const { projectId } = (await (await call(service, 'GET', '/v1/me')).json()) as { projectId: string };
  let isOver = false;
  let refused = 0;
  const write = async () => {
    while (!isOver)
      await call(service, 'POST', `/v1/projects/${projectId}/flows`, { name: 'F', flowSchema: {} }).catch(() => {
        refused += 1;
      });
  };
  const writing = Promise.all(Array.from({ length: clients }, write));
  await work();
  isOver = true;
  await writing;
  return {
    what: `writes of ${clients} clients refused in ${pauses} pauses of EventStoreDB`,
    figure: refused,
    unit: '',
    required: 1,
    aim: 0,
  };
}

export default slowEventStore;
