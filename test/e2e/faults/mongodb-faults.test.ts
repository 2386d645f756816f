import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { CheckingWriter } from '#test/e2e/support/checking-writer.ts';
import { expectConsistent } from '#test/e2e/support/consistent-stores.ts';
import { expectStatus } from '#test/e2e/support/expect.ts';
import { errorLevel, type LogLine, NodesOnFaultyMongoDb } from '#test/e2e/support/faulty-mongodb.ts';
import { SettlingClient } from '#test/e2e/support/settling-load.ts';
import { newProject } from '#test/e2e/support/tenants.ts';
import { seededRandom } from '#test/soak/random.ts';
import { allEnded } from '#test/support/run/all-ended.ts';
import { eventually } from '#test/support/run/eventually.ts';
import { itInManyRounds, itInRounds, long } from '#test/support/run/long.ts';
import { randomFaults } from '#test/support/service/faulty-mongodb-proxy.ts';
import { describeOnOwnMongoDb } from '#test/support/service/mongodb-server.ts';

/** The share of MongoDB's commands that meet a fault. */
const faultShare = 0.04;
const writers = 4;
/** A server that steps down without a word makes each command fail. One that announces it lets the driver wait. */
const silentStepDowns = { count: 3, forMs: 3_000, announces: false };
/** Longer than the driver waits for a primary. */
const longStepDowns = { count: 1, forMs: 10_000, announces: true };
/** How long the writers go on after a step-down. */
const betweenStepDownsMs = 2_000;
/** For each step-down: that the store is unavailable and that it can be used again, for the service and its processes. */
const maxWarningsOfStepDown = 4;
const maxBetweenCutsMs = 500;
/** Maximum time until an acknowledged change is shown. */
const maxStandstillMs = 3_000;
const recoveryTimeoutMs = 60_000;

/** What writers have done so far. */
interface Progress {
  readonly steps: number;
  readonly isOver: boolean;
}

describeOnOwnMongoDb('nodes whose MongoDB changes its primary', (mongoDb) => {
  let stores: NodesOnFaultyMongoDb;
  let clients: ReadonlyArray<SettlingClient>;
  let random: () => number;
  let seed: number;

  const start = async (nodes: number) => {
    stores = await NodesOnFaultyMongoDb.start(mongoDb, nodes);
    clients = stores.nodes.map(({ client }) => new SettlingClient(client));
    seed = Number(process.env.MONGODB_FAULTS_SEED ?? Math.floor(Math.random() * 2 ** 32));
    random = seededRandom(seed);
  };
  afterEach(() => stores?.end());

  /** Starts writers, and lets them write until the work is over or a writer fails. Then the faults end. */
  const whileWriting = async (work: (progress: Progress) => Promise<void>): Promise<void> => {
    const progress = { steps: 0, isOver: false };
    const begun = await Promise.all(
      Array.from({ length: writers }, (_, index) => CheckingWriter.begin(clientAt(index), random)),
    );
    const end = () => {
      progress.isOver = true;
      stores.proxy.heal();
    };
    const write = async (writer: CheckingWriter) => {
      for (; !progress.isOver; progress.steps += 1) await writer.step();
    };
    await allEnded([work(progress), ...begun.map(write)].map((one) => one.finally(end)));
    await Promise.all(begun.map((writer) => writer.expectShown()));
    await Promise.all(begun.map((writer) => writer.expectAssigned()));
  };
  const clientAt = (index: number): SettlingClient => {
    const client = clients[index % clients.length];
    return client ?? assert.fail('no node was started');
  };

  /** Asserts that the nodes are ready, and that no read model and no process has stopped. */
  const expectRunning = async (): Promise<void> => {
    for (const { client } of stores.nodes) {
      const isReady = async () => (await client.get('/readyz')).status === 200;
      await eventually(isReady, 'the node is ready', recoveryTimeoutMs);
      const { text } = await client.get('/metrics');
      assert.ok(!text.includes('switchyard_stopped_at_position{'), 'something has stopped');
    }
  };

  /** Asserts moreover that each acknowledged command and each reaction of a process is stored once. */
  const expectWhole = async (): Promise<void> => {
    await expectRunning();
    await expectConsistent(
      stores.urls,
      clients.flatMap(({ acknowledged }) => acknowledged),
    );
  };

  /** Runs a test. A failure names the seed and the faults. */
  const withSeed = async (test: () => Promise<void>): Promise<void> => {
    try {
      await test();
    } catch (error) {
      const made = JSON.stringify(stores.proxy.made);
      throw new Error(`With MONGODB_FAULTS_SEED=${seed}, after ${made}: ${error}`, { cause: error });
    }
  };

  const changes = { few: 2, many: 500 };
  itInRounds('lose nothing and show nothing old while commands fail at random', changes, async (rounds) => {
    await start(rounds === changes.few ? 1 : 2);
    await withSeed(async () => {
      await whileWriting(async (progress) => {
        stores.proxy.choose(randomFaults(random, faultShare));
        while (progress.steps < rounds && !progress.isOver) await sleep(100);
      });
      await expectWhole();
    });
  });

  /** Lets the primary step down under writers, and asserts that nothing is lost and little is logged. */
  const expectPauses = async ({ count, forMs, announces }: typeof silentStepDowns): Promise<void> => {
    await start(1);
    await withSeed(async () => {
      const before = stores.log.length;
      await whileWriting(async () => {
        for (let stepDown = 0; stepDown < count; stepDown += 1) {
          await sleep(betweenStepDownsMs);
          stores.proxy.stepDown(forMs, announces);
          await sleep(forMs);
        }
        await sleep(betweenStepDownsMs);
      });
      await expectWhole();
      expectFewLines(stores.log.slice(before), count * maxWarningsOfStepDown);
    });
  };

  const { count: pauses } = silentStepDowns;
  itInManyRounds('wait for each new primary, with a line when it begins and one when it ends', pauses, (count) =>
    expectPauses({ ...silentStepDowns, count }),
  );

  it(`wait for a primary that is elected in ten seconds ${long}`, () => expectPauses(longStepDowns));

  itInManyRounds('never stand still after connections were cut', 60, async (cuts) => {
    await start(1);
    await withSeed(async () => {
      const [{ client }] = stores.nodes as [(typeof stores.nodes)[number]];
      const path = `/v1/projects/${await newProject(client)}/flows`;
      let longestMs = 0;
      let isOver = false;
      const write = async () => {
        while (!isOver) {
          const made = await client.post<{ id: string }>(path, { name: 'Flow', flowSchema: {} });
          if (made.status === 503) continue;
          const { id } = expectStatus(made, 201);
          const began = performance.now();
          const isShown = async () => (await client.get(`/v1/flows/${id}`)).status === 200;
          await eventually(isShown, 'the flow is shown', recoveryTimeoutMs);
          longestMs = Math.max(longestMs, performance.now() - began);
        }
      };
      const cut = async () => {
        for (let turn = 0; turn < cuts; turn += 1) {
          await sleep(random() * maxBetweenCutsMs);
          stores.proxy.cut();
        }
        isOver = true;
      };
      await allEnded([cut(), write(), write()]);
      assert.ok(longestMs < maxStandstillMs, `a flow was shown after ${Math.round(longestMs)} ms`);
      await expectRunning();
    });
  });
});

/** Asserts that a log has no error and few warnings. A failure counts the lines by their messages. */
function expectFewLines(log: ReadonlyArray<LogLine>, maxWarnings: number): void {
  const byMessage = Map.groupBy(log, ({ level, msg }) => `level ${level}: ${msg}`);
  const table = [...byMessage].map(([message, { length }]) => `\n  ${length} × ${message}`).join('');
  assert.equal(log.filter(({ level }) => level >= errorLevel).length, 0, `errors were logged:${table}`);
  assert.ok(log.length <= maxWarnings, `more than ${maxWarnings} warnings were logged:${table}`);
}
