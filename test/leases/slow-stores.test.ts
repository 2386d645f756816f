import assert from 'node:assert/strict';
import type { LeaseStore } from '#leases/lease-store.ts';
import { NodeLeases } from '#leases/node-leases.ts';
import { RoundTimes } from '#leases/round-times.ts';
import type { Term } from '#leases/term.ts';
import { underLease } from '#leases/under-lease.ts';
import { aborted } from '#shared/async/timed-waits.ts';
import { InMemoryLeaseStore } from '#test/support/fakes/in-memory-lease-store.ts';
import { itInRounds } from '#test/support/run/long.ts';
import { Random } from '#test/worlds/random.ts';
import { SimulatedNode, SimulatedTime } from '#test/worlds/simulated-time.ts';
import { type CallOutcome, type LeaseCall, SlowLeaseStore, taking } from './slow-lease-store.ts';

const names = ['projections', 'processes', 'webhooks', 'batches'];

describe('Leases on a slow store', () => {
  let time: SimulatedTime;
  let random: Random;
  let store: InMemoryLeaseStore;
  let nodes: SlowNode[];

  const begin = (seed: number) => {
    random = new Random(seed);
    time = new SimulatedTime(random).install();
    store = new InMemoryLeaseStore();
    nodes = [];
  };
  const end = async () => {
    for (const node of nodes) node.stop();
    await time.pass(60_000);
    time[Symbol.dispose]();
  };
  const start = (name: string, outcome: (call: LeaseCall) => CallOutcome, times?: RoundTimes) => {
    const node = new SlowNode(time, new SlowLeaseStore(time, store, outcome), name, times);
    nodes.push(node);
    return node;
  };
  /** Lets time pass, and checks at each moment that no lease has two holders. */
  const pass = (milliseconds: number) =>
    time.passUntil(() => {
      for (const name of names) {
        const holders = nodes.filter((node) => node.holds(name));
        assert.ok(holders.length <= 1, `at ${time.now} ${name} is held by ${holders.map((node) => node.name)}`);
      }
      return false;
    }, milliseconds);
  /** A command that takes this time, give or take a fifth. */
  const about = (milliseconds: number) => taking(milliseconds * (0.8 + 0.4 * random.next()));

  for (const commandMs of [200, 400, 1_000])
    it(`are held soon after the start, and kept, with ${commandMs} ms a command`, async () => {
      begin(commandMs);
      const first = start('first', () => about(commandMs));
      await time.passUntil(() => names.every((name) => first.holds(name)), 20_000);
      assert.ok(time.now <= 2_000 + 7 * commandMs, `${time.now} ms`);
      start('second', () => about(commandMs));
      await pass(120_000);
      assert.deepEqual(
        nodes.map(({ terms }) => terms),
        [names.length, 0],
      );
      await end();
    });

  for (const commandMs of [10, 1_000])
    it(`are taken over after the expiry, with ${commandMs} ms a command`, async () => {
      begin(commandMs);
      const first = start('first', () => about(commandMs));
      await time.pass(20_000);
      const second = start('second', () => about(commandMs));
      await pass(60_000);
      const { expiryMs = 0 } = store.newest('processes') ?? {};
      const killedAt = time.now;
      first.kill();
      await time.passUntil(() => names.every((name) => second.holds(name)), 60_000);
      // The looks that see the last renewal and its age, the beginning and its first renewal.
      const tookMs = time.now - killedAt;
      assert.ok(tookMs <= expiryMs + 700 + 5 * commandMs, `${tookMs} ms with an expiry of ${expiryMs} ms`);
      await end();
    });

  itInRounds('are taken over in about two seconds after a short outage', { few: 5, many: 200 }, async (rounds) => {
    for (let round = 0; round < rounds; round += 1) {
      begin(round);
      let isAway = false;
      const outcome = (): CallOutcome => ({ ...about(10), lost: isAway ? 'request' : null });
      for (const name of ['first', 'second']) start(name, outcome);
      await pass(20_000);
      isAway = true;
      await pass(1_000 + random.below(2_000));
      isAway = false;
      await pass(6_000);
      const holder = nodes.find((node) => node.holds('processes'));
      const other = nodes.find((node) => node !== holder);
      const killedAt = time.now;
      holder?.kill();
      await time.passUntil(() => other?.holds('processes') === true, 60_000);
      assert.ok(time.now - killedAt <= 2_200, `${time.now - killedAt} ms, seed ${round}`);
      await end();
    }
  });

  itInRounds(
    'have one holder although the holder is cut off while their expiry shrinks',
    { few: 6, many: 300 },
    async (rounds) => {
      for (let round = 0; round < rounds; round += 1) {
        begin(round);
        let commandMs = 1_000;
        const times = new RoundTimes();
        // The store writes the last renewal, whose answer is lost, and gets none of what comes after it.
        let renewalsLeft = 1 + (round % 3);
        let isShrinking = false;
        const outcome = (call: LeaseCall): CallOutcome => {
          isShrinking ||= commandMs < 1_000 && times.expiryMs < 2_000;
          if (!isShrinking) return about(commandMs);
          if (call === 'renewAll') renewalsLeft -= 1;
          return renewalsLeft > 0
            ? about(commandMs)
            : { ...taking(2), lost: renewalsLeft === 0 ? 'answer' : 'request' };
        };
        const first = start('first', outcome, times);
        await pass(20_000);
        const second = start('second', () => about(commandMs));
        await pass(20_000);
        assert.ok((store.newest('processes')?.expiryMs ?? 0) > 3_000);
        commandMs = 20;
        await pass(30_000);
        const held = [first, second].map((node) => node.holds('processes'));
        assert.deepEqual([held, renewalsLeft < 0], [[false, true], true], `seed ${round}`);
        await end();
      }
    },
  );

  itInRounds('have one holder while the store becomes slower and faster', { few: 4, many: 200 }, async (rounds) => {
    for (let round = 0; round < rounds; round += 1) {
      begin(round);
      let commandMs = 10;
      for (const name of ['first', 'second', 'third'])
        start(name, () => (random.isTrue(0.01) ? { ...about(commandMs), lost: 'answer' } : about(commandMs)));
      for (let changes = 0; changes < 10; changes += 1) {
        await pass(random.below(15_000));
        commandMs = random.pick([10, 200, 400, 1_000, 3_000]);
      }
      commandMs = 10;
      await pass(60_000);
      for (const name of names)
        assert.equal(nodes.filter((node) => node.holds(name)).length, 1, `${name}, seed ${round}`);
      await end();
    }
  });
});

describe('RoundTimes', () => {
  const measured = (...times: ReadonlyArray<number>) => {
    const measure = new RoundTimes();
    for (const took of times) measure.add(took);
    return [measure.thirdSlowestMs, measure.expiryMs, measure.callLimitMs];
  };

  it('follow the third-slowest of the last 32 calls, within bounds', () => {
    assert.deepEqual(measured(), [0, 1_400, 1_000]);
    assert.deepEqual(measured(5_000, 600), [600, 2_400, 1_800]);
    assert.deepEqual(measured(9_000, 10, 8_000, 700, 20), [700, 2_800, 2_100]);
    assert.deepEqual(measured(9_000, 9_000, 9_000), [9_000, 20_000, 15_000]);
    const fast = Array.from({ length: 30 }, () => 5);
    assert.deepEqual(measured(9_000, 9_000, 9_000, ...fast), [5, 1_400, 1_000]);
  });

  it('count a failure that took longer than the answers until eight answers have come', () => {
    const measure = new RoundTimes();
    for (let calls = 0; calls < 32; calls += 1) measure.add(5);
    for (const took of [0, 1, 340]) measure.addFailure(took);
    assert.equal(measure.expiryMs, 1_400);
    for (const took of [999, 998, 500]) measure.addFailure(took);
    assert.equal(measure.expiryMs, 2_000);
    for (let calls = 0; calls < 7; calls += 1) measure.add(5);
    assert.equal(measure.expiryMs, 2_000);
    measure.add(5);
    assert.equal(measure.expiryMs, 1_400);
  });

  it('let a term begin with an expiry for the slowest of the last calls', () => {
    const measure = new RoundTimes();
    for (let calls = 0; calls < 32; calls += 1) measure.add(5);
    measure.add(1_000);
    assert.deepEqual([measure.expiryMs, measure.firstExpiryMs], [1_400, 4_000]);
    for (let calls = 0; calls < 4; calls += 1) measure.add(5);
    assert.equal(measure.firstExpiryMs, 1_400);
  });
});

/** A node that competes for all leases. */
class SlowNode {
  readonly name: string;
  /** How many terms it has held. */
  terms = 0;
  readonly #time: SimulatedTime;
  readonly #machine: SimulatedNode;
  readonly #stopped = new AbortController();
  readonly #held = new Map<string, Term>();

  constructor(time: SimulatedTime, store: LeaseStore, name: string, times = new RoundTimes()) {
    this.name = name;
    this.#time = time;
    this.#machine = new SimulatedNode(name);
    const leases = new NodeLeases({ store, times });
    const log = {
      info: () => undefined,
      warn: () => undefined,
      error: (_: object, message: string) => assert.fail(message),
    };
    const { signal } = this.#stopped;
    const compete = (lease: string) =>
      underLease({ name: lease, holder: name, leases, log, signal, work: (term) => this.#work(lease, term) });
    time.runOn(this.#machine, () => void Promise.all(names.map(compete)));
  }

  holds(lease: string): boolean {
    if (this.#machine.state === 'dead') return false;
    return this.#time.runOn(this.#machine, () => this.#held.get(lease)?.isHeld() === true);
  }

  kill(): void {
    this.#time.kill(this.#machine);
  }

  stop(): void {
    this.#stopped.abort();
  }

  async #work(lease: string, term: Term): Promise<void> {
    this.terms += 1;
    this.#held.set(lease, term);
    await aborted(term.signal);
  }
}
