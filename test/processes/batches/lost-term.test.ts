import assert from 'node:assert/strict';
import { delay } from '#shared/async/timed-waits.ts';
import { clock } from '#shared/clock.ts';
import { itInRounds } from '#test/support/run/long.ts';
import { Random } from '#test/worlds/random.ts';
import { SimulatedTime } from '#test/worlds/simulated-time.ts';
import { answer, answersAfter, BatchCluster, type BatchNode, type TestTerm, unavailable } from './batch-cluster.ts';

const never = () => new Promise<never>(() => undefined);

/** Asserts that the batch has completed and has each of its lines once. */
async function assertWhole(cluster: BatchCluster, lines: number): Promise<void> {
  const output = (await cluster.output()) ?? [];
  assert.deepEqual([output.length, new Set(output).size, cluster.errors], [lines, lines, []]);
}

/** Waits for the end of a term. @returns how long it took */
async function msUntilEnded(time: SimulatedTime, term: TestTerm): Promise<number> {
  let hasEnded = false;
  void term.ended.then(() => {
    hasEnded = true;
  });
  const from = time.now;
  assert.ok(await time.passUntil(() => hasEnded, 20_000), 'the term does not end');
  return time.now - from;
}

/** Begins a term of a node, loses it a second later, and waits until its runs have ended. */
async function loseTerm(time: SimulatedTime, cluster: BatchCluster, node: Parameters<BatchCluster['begin']>[0]) {
  const term = cluster.begin(node);
  await time.pass(1_000);
  term.lose();
  await msUntilEnded(time, term);
}

describe('A batch whose node loses its term', () => {
  it('asks no line twice when the node gets the next term, whatever its calls take', async () => {
    using time = new SimulatedTime(new Random(1)).install();
    const cluster = new BatchCluster();
    await cluster.create(20);
    cluster.call = answersAfter(() => 15_000);
    const node = cluster.newNode(4);
    for (let terms = 0; terms < 3; terms += 1) {
      const term = cluster.begin(node);
      await time.pass(1_000);
      term.lose();
      assert.ok((await msUntilEnded(time, term)) <= 8_500);
    }
    cluster.begin(node);
    await time.pass(100_000);
    await assertWhole(cluster, 20);
    assert.equal(cluster.timesAskedTwice, 0);
    assert.equal(node.lines.bytes, 0);
  });

  it('records answers that take all room of the project for lines, and continues', async () => {
    using time = new SimulatedTime(new Random(7)).install();
    const cluster = new BatchCluster();
    await cluster.create(12);
    const body = Buffer.from(JSON.stringify({ text: 'x'.repeat(3_000) }));
    cluster.call = async () => ({ ...answer, body }) as typeof answer;
    const node = cluster.newNode(4, 4_000);
    const term = cluster.begin(node);
    const { beforePut } = cluster;
    cluster.beforePut = () => Promise.reject(unavailable());
    await time.pass(15_000);
    term.lose();
    await msUntilEnded(time, term);
    assert.ok(node.lines.bytes > 4_000, String(node.lines.bytes));
    cluster.beforePut = beforePut;
    cluster.begin(node);
    await time.pass(20_000);
    await assertWhole(cluster, 12);
    assert.deepEqual([cluster.timesAskedTwice, node.lines.bytes], [0, 0]);
  });

  it('asks a line again whose call an earlier term has left without an answer', async () => {
    using time = new SimulatedTime(new Random(8)).install();
    const cluster = new BatchCluster();
    await cluster.create(8);
    const answering = answersAfter(() => 500);
    cluster.call = async (...given) => {
      if (cluster.asked.length > 4) return answering(...given);
      await delay(12_000);
      if (given[0].customId === 'line-1') throw new Error('a bug');
      return given[0].customId === 'line-0' ? { kind: 'later', afterMs: 1_000 } : answer;
    };
    const node = cluster.newNode(4);
    await loseTerm(time, cluster, node);
    cluster.begin(node);
    await time.pass(30_000);
    const output = await cluster.output();
    // A bug becomes an answer of the line.
    assert.deepEqual([output?.length, new Set(output).size, cluster.errors.length], [7, 7, 1]);
    assert.equal(cluster.asked.filter((customId) => customId === 'line-0').length, 2);
    assert.equal(cluster.timesAskedTwice, 1);
  });

  it('never has more calls than slots', async () => {
    using time = new SimulatedTime(new Random(9)).install();
    const cluster = new BatchCluster();
    await cluster.create(20);
    const answering = answersAfter(() => 12_000);
    let [calls, maxCalls] = [0, 0];
    cluster.call = async (...given) => {
      calls += 1;
      maxCalls = Math.max(maxCalls, calls);
      try {
        return await answering(...given);
      } finally {
        calls -= 1;
      }
    };
    const node = cluster.newNode(4);
    await loseTerm(time, cluster, node);
    const free = new AbortController();
    let hasSlot = false;
    void node.slots.acquire('other', 'other', free.signal).then((slot) => {
      hasSlot = slot !== null;
      slot?.release();
    });
    await time.pass(1_000);
    assert.equal(hasSlot, false, 'calls that run have their slots');
    free.abort();
    cluster.begin(node);
    await time.pass(100_000);
    await assertWhole(cluster, 20);
    assert.deepEqual([maxCalls, cluster.timesAskedTwice], [4, 0]);
  });

  it('keeps its lines when a run ends before it has read the batch', async () => {
    using time = new SimulatedTime(new Random(10)).install();
    const cluster = new BatchCluster();
    await cluster.create(8);
    cluster.call = answersAfter(() => 25_000);
    const node = cluster.newNode(4);
    const { beforeRead } = cluster;
    for (const readMs of [0, 9_500]) {
      cluster.beforeRead = () => delay(readMs);
      await loseTerm(time, cluster, node);
      await time.pass(2_000);
    }
    cluster.beforeRead = beforeRead;
    cluster.begin(node);
    await time.pass(100_000);
    await assertWhole(cluster, 8);
    assert.deepEqual([cluster.timesAskedTwice, node.lines.bytes], [0, 0]);
  });

  it('drops its lines a minute after its term although its runs try to begin all the time', async () => {
    using time = new SimulatedTime(new Random(11)).install();
    const cluster = new BatchCluster();
    await cluster.create(8);
    cluster.call = answersAfter(() => 1e9);
    const node = cluster.newNode(4);
    await loseTerm(time, cluster, node);
    const { beforeAppend } = cluster;
    cluster.beforeAppend = () => Promise.reject(unavailable());
    cluster.begin(node);
    await time.pass(30_000);
    assert.ok(node.lines.bytes > 0);
    await time.pass(40_000);
    assert.equal(node.lines.bytes, 0);
    Object.assign(cluster, { beforeAppend, call: answersAfter(() => 100) });
    await time.pass(20_000);
    await assertWhole(cluster, 8);
  });

  it('keeps its calls while the next run cannot begin', async () => {
    using time = new SimulatedTime(new Random(6)).install();
    const cluster = new BatchCluster();
    await cluster.create(8);
    cluster.call = answersAfter(() => 25_000);
    const node = cluster.newNode(4);
    await loseTerm(time, cluster, node);
    const { beforeAppend } = cluster;
    cluster.beforeAppend = () => Promise.reject(unavailable());
    cluster.begin(node);
    await time.pass(30_000);
    cluster.beforeAppend = beforeAppend;
    await time.pass(100_000);
    await assertWhole(cluster, 8);
    assert.equal(cluster.timesAskedTwice, 0);
  });

  it('leaves its calls to the next node only until that takes the batch, and their answers are recorded once', async () => {
    using time = new SimulatedTime(new Random(2)).install();
    const cluster = new BatchCluster();
    await cluster.create(12);
    cluster.call = answersAfter(() => 3_000);
    const [first, second] = [cluster.newNode(4), cluster.newNode(4)];
    const lost = cluster.begin(first);
    await time.pass(1_500);
    lost.lose();
    await time.pass(300);
    cluster.begin(second);
    await time.pass(30_000);
    await assertWhole(cluster, 12);
    assert.equal(cluster.timesAskedTwice, 0, 'the answers came before the batch was taken');
    await time.pass(60_000);
    assert.deepEqual([first.lines.bytes, second.lines.bytes], [0, 0]);
  });

  for (const [what, hang] of [
    ['a put', (cluster: BatchCluster) => (cluster.beforePut = never)],
    ['an append', (cluster: BatchCluster) => (cluster.beforeAppend = never)],
    ['a call of a line', (cluster: BatchCluster) => (cluster.call = never)],
    ['a look for batches', (cluster: BatchCluster) => (cluster.list = never)],
  ] as const) {
    it(`ends its term within seconds although ${what} never answers, and the next node goes through the batch`, async () => {
      using time = new SimulatedTime(new Random(3)).install();
      const cluster = new BatchCluster();
      await cluster.create(20);
      cluster.call = answersAfter(() => 500);
      const { call, list, beforePut, beforeAppend } = cluster;
      const term = cluster.begin(cluster.newNode(4));
      await time.pass(1_000);
      hang(cluster);
      await time.pass(2_000);
      term.lose();
      assert.ok((await msUntilEnded(time, term)) <= 9_000, 'it is not left, but ends');
      Object.assign(cluster, { call, list, beforePut, beforeAppend });
      cluster.begin(cluster.newNode(4));
      await time.pass(60_000);
      await assertWhole(cluster, 20);
    });
  }

  for (const [what, end, maxMs] of [
    ['the key of the batch is revoked', (cluster: BatchCluster) => cluster.revokeKey(), 5_000],
    ['the batch is cancelled', (cluster: BatchCluster) => cluster.cancel(), 12_000],
  ] as const) {
    for (const afterMs of [1_000, 6_000, 12_000]) {
      it(`ends its calls within ${maxMs / 1_000} s when ${what} ${afterMs / 1_000} s after the loss`, async () => {
        using time = new SimulatedTime(new Random(12)).install();
        const cluster = new BatchCluster();
        await cluster.create(4);
        let calls = 0;
        cluster.call = async (_, { signal }) => {
          calls += 1;
          await delay(1e9, signal);
          calls -= 1;
          return { kind: 'ended' };
        };
        const node = cluster.newNode(4);
        const term = cluster.begin(node);
        await time.pass(1_000);
        term.lose();
        await time.pass(afterMs);
        assert.equal(calls, 4);
        await end(cluster);
        await time.pass(maxMs);
        assert.equal(calls, 0);
        await msUntilEnded(time, term);
      });
    }
  }

  it('ends its calls when the key is revoked while no run can begin', async () => {
    using time = new SimulatedTime(new Random(14)).install();
    const cluster = new BatchCluster();
    await cluster.create(1);
    let isAborted = false;
    cluster.call = async (_, { signal }) => {
      await delay(1e9, signal);
      isAborted = signal.aborted;
      return { kind: 'ended' };
    };
    const node = cluster.newNode(1);
    await loseTerm(time, cluster, node);
    cluster.beforeAppend = () => Promise.reject(unavailable());
    cluster.begin(node);
    await time.pass(10_000);
    assert.equal(isAborted, false);
    await cluster.revokeKey();
    await time.pass(5_000);
    assert.equal(isAborted, true);
  });

  it('keeps the answers of a batch that is cancelled after the loss', async () => {
    using time = new SimulatedTime(new Random(13)).install();
    const cluster = new BatchCluster();
    await cluster.create(4);
    const node = cluster.newNode(4);
    const { beforePut } = cluster;
    cluster.beforePut = () => Promise.reject(unavailable());
    await loseTerm(time, cluster, node);
    await cluster.cancel();
    await time.pass(20_000);
    cluster.beforePut = beforePut;
    cluster.begin(node);
    await time.pass(5_000);
    assert.deepEqual((await cluster.output('cancelled'))?.length, 4);
  });

  it('ends within seconds when the node stops after the loss, and leaves no calls', async () => {
    using time = new SimulatedTime(new Random(15)).install();
    const cluster = new BatchCluster();
    await cluster.create(4);
    let calls = 0;
    cluster.call = async (_, { signal }) => {
      calls += 1;
      await delay(1e9, signal);
      calls -= 1;
      return { kind: 'ended' };
    };
    const stopping = new AbortController();
    const node = cluster.newNode(4, 1e9, stopping.signal);
    const term = cluster.begin(node);
    await time.pass(1_000);
    term.lose();
    await time.pass(500);
    assert.equal(calls, 4);
    stopping.abort();
    assert.ok((await msUntilEnded(time, term)) <= 3_500);
    await time.pass(10);
    assert.deepEqual([calls, node.lines.bytes], [0, 0]);
  });

  it('records no answer that comes after the term', async () => {
    using time = new SimulatedTime(new Random(4)).install();
    const cluster = new BatchCluster();
    await cluster.create(1);
    const late = Promise.withResolvers<typeof answer>();
    cluster.call = () => late.promise;
    await loseTerm(time, cluster, cluster.newNode(1));
    const { length } = cluster.service.store.log;
    late.resolve(answer);
    await time.pass(120_000);
    assert.equal(cluster.service.store.log.length, length);
  });

  it('gives up calls that no later term of the node has taken over for a minute', async () => {
    using time = new SimulatedTime(new Random(5)).install();
    const cluster = new BatchCluster();
    await cluster.create(1);
    let isAborted = false;
    cluster.call = async (_, { signal }) => {
      await delay(1e9, signal);
      isAborted = signal.aborted;
      return { kind: 'ended' };
    };
    const node = cluster.newNode(1);
    const term = cluster.begin(node);
    await time.pass(1_000);
    term.lose();
    await time.pass(60_000);
    assert.deepEqual([isAborted, node.lines.bytes > 0], [false, true]);
    await time.pass(20_000);
    assert.deepEqual([isAborted, node.lines.bytes], [true, 0]);
  });
});

/** The number of lines of a batch over outages. */
const linesOfRun = 60;

/** What becomes of the lease when the stores are back. */
interface Outages {
  readonly outageMs: (random: Random) => number;
  readonly isTakenByOther: boolean;
}

/**
 * Runs a batch over two outages of the stores of blobs and leases, each of which ends the term.
 * @returns the number of lines that were asked twice
 */
async function runOverOutages(seed: number, { outageMs, isTakenByOther }: Outages): Promise<number> {
  const random = new Random(seed);
  using time = new SimulatedTime(random).install();
  const cluster = new BatchCluster();
  await cluster.create(linesOfRun);
  cluster.call = answersAfter(() => 200 + random.below(3_000));
  let outageUntil = 0;
  cluster.beforePut = async () => {
    await delay(5 + random.below(40));
    if (clock.now() < outageUntil) throw unavailable();
  };
  const nodes = [cluster.newNode(6), cluster.newNode(6)] as const;
  let holder: BatchNode = nodes[0];
  for (let outages = 0; outages < 2; outages += 1) {
    const term = cluster.begin(holder);
    await time.pass(1_500 + random.below(5_000));
    outageUntil = clock.now() + outageMs(random);
    await time.pass(1_100);
    term.lose();
    await time.pass(Math.max(0, outageUntil - clock.now()) + 300 + random.below(1_200));
    if (isTakenByOther) holder = holder === nodes[0] ? nodes[1] : nodes[0];
    else await msUntilEnded(time, term);
  }
  cluster.begin(holder);
  await time.pass(60_000);
  await assertWhole(cluster, linesOfRun);
  return cluster.timesAskedTwice;
}

/** A short one is over before the run of the lost term ends. */
const shortMs = (random: Random) => 1_200 + random.below(5_000);
const longMs = (random: Random) => 1_200 + random.below(20_000);

describe('A batch over outages', () => {
  for (const [what, outages, maxShare] of [
    ['short outages and another node', { outageMs: shortMs, isTakenByOther: true }, 0.05],
    ['long outages and the same node', { outageMs: longMs, isTakenByOther: false }, 0],
  ] as const) {
    const title = `asks at most ${maxShare * 100}% of its lines twice over ${what}, and records each once`;
    itInRounds(title, { few: 4, many: 100 }, async (rounds) => {
      let twice = 0;
      for (let seed = 1; seed <= rounds; seed += 1) twice += await runOverOutages(seed, outages);
      assert.ok(twice <= maxShare * rounds * linesOfRun, `${twice} of ${rounds * linesOfRun}`);
    });
  }
});
