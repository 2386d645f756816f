import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { EventStoreDbDoubleProcess } from '#test/support/eventstoredb/double-process.ts';
import { CountingMongoDbProxy } from '#test/support/service/mongodb-commands.ts';
import { startOwnMongoDb } from '#test/support/service/mongodb-server.ts';
import { type Checkout, here } from './beside/checkout.ts';
import type { MeasureVersion } from './beside/compare.ts';
import { processorMs } from './gateway-processes/processor-time.ts';
import { type Server, startService } from './http-processes/processes.ts';
import { format, print, printResults, printTable } from './measure.ts';

/** How long a service runs before it is measured, and for how long it is measured. */
interface Times {
  readonly settleMs: number;
  readonly measureMs: number;
}

const wholeTimes: Times = { settleMs: 10_000, measureMs: 60_000 };
const quickTimes: Times = { settleMs: 5_000, measureMs: 10_000 };
const what = {
  core: 'an embedded service at rest',
  leases: 'commands of a standby node on leases',
  all: 'all its commands',
};

/** What a standby node asks its MongoDB, each second. */
interface StandbyCommands {
  readonly leases: number;
  readonly all: number;
  readonly rows: ReadonlyArray<ReadonlyArray<string>>;
}

/**
 * Measures services without requests: the processor time of all threads of an embedded service, and what a second node
 * on EventStoreDB and MongoDB asks MongoDB while the first one has all leases. `--quick` measures for a shorter time.
 */
export default async function idle(args: ReadonlyArray<string>): Promise<void> {
  const times = timesOf(args);
  const core = await embeddedCoreShare(here, times);
  const { leases, all, rows } = await standbyCommands(here, times);
  print('Commands of a standby node to MongoDB, each second');
  printTable(['', ''], rows);
  print();
  printResults([
    { what: what.core, figure: core * 100, unit: ' % of a core', required: 0.5, aim: 0.3 },
    { what: what.leases, figure: leases, unit: '/s', required: 4, aim: 2 },
  ]);
  print(`${what.all}: ${format(all)}/s`);
}

/** Measures the same of another version beside this one. */
export function beside(args: ReadonlyArray<string>): MeasureVersion {
  const times = timesOf(args);
  return async (checkout) => {
    const core = await embeddedCoreShare(checkout, times);
    const { leases, all } = await standbyCommands(checkout, times);
    return [
      { what: what.core, value: core * 100, unit: ' % of a core' },
      { what: what.leases, value: leases, unit: '/s' },
      { what: what.all, value: all, unit: '/s' },
    ];
  };
}

function timesOf(args: ReadonlyArray<string>): Times {
  return args.includes('quick') ? quickTimes : wholeTimes;
}

async function embeddedCoreShare(checkout: Checkout, { settleMs, measureMs }: Times): Promise<number> {
  return onNewFolder(async (folder) => {
    const service = await startService(folder, {}, checkout);
    try {
      await sleep(settleMs);
      const [before, began] = [processorMs(service.pid), performance.now()];
      await sleep(measureMs);
      return (processorMs(service.pid) - before) / (performance.now() - began);
    } finally {
      await service.stop();
    }
  });
}

async function standbyCommands(checkout: Checkout, { settleMs, measureMs }: Times): Promise<StandbyCommands> {
  const mongoDb = await startOwnMongoDb();
  const double = await EventStoreDbDoubleProcess.start();
  const proxy = new CountingMongoDbProxy(mongoDb.port);
  await proxy.listen();
  const nodes: Server[] = [];
  const begin = async (folder: string, readStoreUrl: string) => {
    const stores = { EVENT_STORE_URL: double.url, READ_STORE_URL: readStoreUrl };
    nodes.push(await startService(folder, stores, checkout));
  };
  try {
    return await onNewFolder(async (folder) => {
      const url = mongoDb.newUrl();
      await begin(join(folder, 'holder'), url);
      await begin(join(folder, 'standby'), proxy.through(url));
      await sleep(settleMs);
      proxy.reset();
      await sleep(measureMs);
      const counts = proxy.counts();
      await Promise.all(nodes.map((node) => node.stop()));
      const perSecond = (count: number) => count / (measureMs / 1_000);
      const sum = (among: typeof counts) => perSecond(among.reduce((total, { count }) => total + count, 0));
      return {
        leases: sum(counts.filter(({ collection }) => /lease/i.test(collection))),
        all: sum(counts),
        rows: counts.map(({ command, collection, count }) => [`${command} ${collection}`, format(perSecond(count))]),
      };
    });
  } finally {
    await Promise.all(nodes.map((node) => node.stop()));
    await proxy.close();
    await double.end();
    await mongoDb.dispose();
  }
}

async function onNewFolder<Outcome>(work: (folder: string) => Promise<Outcome>): Promise<Outcome> {
  const folder = await mkdtemp(join(tmpdir(), 'switchyard-bench-'));
  return work(folder).finally(() => rm(folder, { recursive: true, force: true }));
}
