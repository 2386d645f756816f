import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { EventStoreDbDoubleProcess } from '#test/support/eventstoredb/double-process.ts';
import { type CommandCount, CountingMongoDbProxy } from '#test/support/service/mongodb-commands.ts';
import { describeOnOwnMongoDb } from '#test/support/service/mongodb-server.ts';
import { Nodes } from '#test/support/service/nodes.ts';
import type { ServiceEnvironment, ServiceProcess } from '#test/support/service/service-process.ts';
import { expectStatus } from './support/expect.ts';
import { newProject } from './support/tenants.ts';

type Named = { readonly id: string };

/** Maximum commands to MongoDB, on average. */
const limits = {
  /** Each second, all of them. */
  atRest: 8,
  twoNodesAtRest: 12,
  /** For each request, besides leases, the driver's own, and what the node sends at rest. */
  getFlow: 1.1,
  listVersions: 2.1,
  /** For each request that is sent alone. */
  write: 9,
  /** Those among them that store how far read models are. */
  progressOfWrite: 1.1,
  /** For each of 16 requests at the same time. */
  writeAmongMany: 4,
};

const settleMs = 1_500;
const restMs = 5_000;
/** A job that runs once a minute, and did not run at rest, adds little to the average of this number. */
const reads = 200;
const writes = 30;
const roundsAtOnce = 5;
const atOnce = 16;

const isOfLeases = ({ collection }: CommandCount) => /lease/i.test(collection);
/** Commands on no collection are the driver's own: they ask what kind of server it is, and end sessions. */
const isOfDriver = ({ collection }: CommandCount) => collection === '';
/** What read models and processes store besides documents is how far they are. */
const isProgress = ({ command, collection }: CommandCount) => command === 'update' && !/^documents/.test(collection);
const keyOf = ({ command, collection }: CommandCount) => `${command} ${collection}`;

describeOnOwnMongoDb('commands of a node to MongoDB', (mongoDb) => {
  const nodes = new Nodes({ environment: () => ({}) });
  const opened = new AsyncDisposableStack();
  let proxy: CountingMongoDbProxy;
  let stores: ServiceEnvironment;
  let node: ServiceProcess;
  let flowsPath: string;
  let atRest: ReadonlyArray<CommandCount>;

  before(async () => {
    opened.defer(() => nodes.end());
    const double = await EventStoreDbDoubleProcess.start();
    opened.defer(() => double.end());
    proxy = new CountingMongoDbProxy(mongoDb.port);
    await proxy.listen();
    opened.defer(() => proxy.close());
    stores = { EVENT_STORE_URL: double.url, READ_STORE_URL: proxy.through(mongoDb.newUrl()) };
    node = await nodes.start(undefined, stores);
    flowsPath = `/v1/projects/${await newProject(node.client)}/flows`;
    await newFlow();
    await sleep(settleMs);
    atRest = await countsOf(() => sleep(restMs));
  });
  after(() => opened.disposeAsync());

  const newFlow = async () =>
    expectStatus(await node.client.post<Named>(flowsPath, { name: 'Flow', flowSchema: {} }), 201).id;
  const newVersion = async (flowId: string) =>
    expectStatus(await node.client.post<Named>(`/v1/flows/${flowId}/versions`, { flowSchema: {} }), 201).id;

  /** Counts the commands of work. */
  const countsOf = async (work: () => Promise<unknown>): Promise<ReadonlyArray<CommandCount>> => {
    proxy.reset();
    await work();
    return proxy.counts();
  };
  /** Counts those that the requests of work cause, and not time. */
  const countsOfRequests = async (work: () => Promise<unknown>) => {
    const began = performance.now();
    const counts = await countsOf(work);
    const rests = (performance.now() - began) / restMs;
    const rested = new Map(atRest.map((at) => [keyOf(at), at.count * rests]));
    return counts
      .filter((count) => !isOfLeases(count) && !isOfDriver(count))
      .map((of) => ({ ...of, count: Math.max(0, of.count - (rested.get(keyOf(of)) ?? 0)) }));
  };
  const inTurn = async (times: number, send: (turn: number) => Promise<unknown>) => {
    for (let turn = 0; turn < times; turn += 1) await send(turn);
  };

  it('sends few at rest', () => {
    expectAtMost(atRest, restMs / 1_000, limits.atRest, 'a second');
  });

  describe('for reads', () => {
    let flow: string;
    before(async () => {
      flow = await newFlow();
      await newVersion(flow);
      await sleep(settleMs);
    });
    const countsOfReads = (path: string) =>
      countsOfRequests(() => inTurn(reads, async () => expectStatus(await node.client.get(path), 200)));

    it('sends one for a flow', async () => {
      expectAtMost(await countsOfReads(`/v1/flows/${flow}`), reads, limits.getFlow, 'a flow');
    });

    it('sends two for the versions of a flow', async () => {
      expectAtMost(await countsOfReads(`/v1/flows/${flow}/versions`), reads, limits.listVersions, 'a list of versions');
    });
  });

  describe('for writes that are sent one at a time', () => {
    /** @param progressOfProcesses the checkpoints of processes that react to what is written */
    const expectFew = async (
      what: string,
      send: (turn: number) => Promise<unknown>,
      progressOfProcesses = 0,
    ): Promise<void> => {
      await sleep(settleMs);
      const counts = await countsOfRequests(() => inTurn(writes, send));
      expectAtMost(counts, writes, limits.write, what);
      const maxProgress = limits.progressOfWrite + progressOfProcesses;
      expectAtMost(counts.filter(isProgress), writes, maxProgress, `progress of ${what}`);
    };

    it('sends few for a version', async () => {
      const flow = await newFlow();
      await expectFew('a version', () => newVersion(flow));
    });

    it('sends few for a flow', () => expectFew('a flow', newFlow, 1));

    it('sends few for an activation', async () => {
      const flow = await newFlow();
      const versions = [await newVersion(flow), await newVersion(flow)] as const;
      const activate = async (turn: number) =>
        expectStatus(await node.client.post(`/v1/flow-versions/${versions[turn % 2]}/activate`), 200);
      await expectFew('an activation', activate);
    });
  });

  it('sends fewer for each of many flows at the same time', async () => {
    const send = () => Promise.all(Array.from({ length: atOnce }, newFlow));
    await send();
    await sleep(settleMs);
    const counts = await countsOfRequests(() => inTurn(roundsAtOnce, send));
    expectAtMost(counts, roundsAtOnce * atOnce, limits.writeAmongMany, 'a flow among many');
  });

  it('sends few at rest of two nodes', async () => {
    await nodes.start(undefined, stores);
    await sleep(settleMs);
    const counts = await countsOf(() => sleep(restMs));
    expectAtMost(counts, restMs / 1_000, limits.twoNodesAtRest, 'a second of two nodes');
  });
});

/** Asserts the average. A failure shows each command by its collection. */
function expectAtMost(counts: ReadonlyArray<CommandCount>, times: number, limit: number, what: string): void {
  const average = (count: number) => count / times;
  const sum = average(counts.reduce((total, { count }) => total + count, 0));
  const rows = counts.map(
    ({ command, collection, count }) => `  ${average(count).toFixed(2).padStart(7)}  ${command} ${collection}`,
  );
  assert.ok(sum <= limit, `${sum.toFixed(2)} commands for ${what}, of at most ${limit}:\n${rows.join('\n')}`);
}
