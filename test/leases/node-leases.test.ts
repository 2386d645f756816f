import assert from 'node:assert/strict';
import type { LeaseStore } from '#leases/lease-store.ts';
import { LeaseWatch } from '#leases/lease-watch.ts';
import { defaultLeaseLimits } from '#leases/leases.ts';
import { NodeLeases } from '#leases/node-leases.ts';
import { minExpiryMs } from '#leases/round-times.ts';
import { underLease } from '#leases/under-lease.ts';
import { aborted } from '#shared/async/timed-waits.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { InMemoryLeaseStore } from '#test/support/fakes/in-memory-lease-store.ts';
import { Random } from '#test/worlds/random.ts';
import { SimulatedNode, SimulatedTime } from '#test/worlds/simulated-time.ts';
import { lost, SlowLeaseStore, taking } from './slow-lease-store.ts';

const names = ['processes', 'projections', 'webhooks', 'batches'];
const quiet = { info: () => {}, warn: () => {}, error: () => {} };
const prompt = taking(4);
/** The expiry of terms that a test begins itself. */
const expiryMs = minExpiryMs;

describe('NodeLeases', () => {
  let time: SimulatedTime;
  let store: InMemoryLeaseStore;
  let nodes: LeasingNode[];
  beforeEach(() => {
    time = new SimulatedTime(new Random(1)).install();
    store = new InMemoryLeaseStore();
    nodes = [];
  });
  afterEach(async () => {
    const stopping = nodes.map((node) => node.stop());
    await time.pass(10_000);
    await Promise.all(stopping);
    time[Symbol.dispose]();
  });

  const start = (holder: string, candidateFor = names) => {
    const node = new LeasingNode(time, store, holder, candidateFor);
    nodes.push(node);
    return node;
  };
  /** The calls of a node in a minute, by name. */
  const inAMinute = async ({ calls }: LeasingNode) => {
    calls.length = 0;
    await time.pass(60_000);
    const count = (call: string) => calls.filter((made) => made === call).length;
    return { all: calls.length, renewals: count('renewAll'), looks: count('newestOfAll') };
  };
  /** Lets time pass until a promise settles. */
  const passing = async <Result>(promise: Promise<Result>) => {
    let isSettled = false;
    const settle = () => {
      isSettled = true;
    };
    promise.then(settle, settle);
    await time.passUntil(() => isSettled, 10_000);
    return promise;
  };
  const maxRounds = 60_000 / defaultLeaseLimits.lookIntervalMs;

  it('makes one read in a round for all candidates and watches of a standby node', async () => {
    start('holder');
    await time.pass(1_000);
    const standby = start('standby');
    await time.pass(1_000);
    const { all, looks } = await inAMinute(standby);
    assert.ok(looks === all && looks <= maxRounds, `${looks} reads of ${all} commands in a minute`);
    assert.deepEqual(standby.working, []);
  });

  it('renews all leases of a node with one command in a round, and looks only once in half a minute', async () => {
    const holder = start('holder');
    await time.pass(1_000);
    const { all, renewals, looks } = await inAMinute(holder);
    assert.ok(renewals <= maxRounds, `${renewals} renewals in a minute`);
    assert.deepEqual([looks, all], [2, renewals + looks]);
    assert.deepEqual(holder.working, names);
    for (const name of names) {
      const before = store.newest(name)?.renewals ?? 0;
      await time.pass(3_000);
      assert.ok((store.newest(name)?.renewals ?? 0) >= before + 9, `${name} is renewed in each round`);
    }
  });

  it('renews and looks in each round on a node that holds some leases and waits for others', async () => {
    start('holder', ['batches']);
    await time.pass(1_000);
    const mixed = start('mixed');
    await time.pass(1_000);
    const { all, renewals, looks } = await inAMinute(mixed);
    assert.ok(renewals <= maxRounds && looks <= maxRounds, `${renewals} renewals and ${looks} reads in a minute`);
    assert.equal(all, renewals + looks);
    assert.deepEqual(
      mixed.working,
      names.filter((name) => name !== 'batches'),
    );
  });

  it('looks seldom on a node that only watches', async () => {
    start('holder');
    const watching = start('watching', []);
    await time.pass(5_000);
    const { all, looks } = await inAMinute(watching);
    assert.deepEqual([looks, all], [6, 6]);
  });

  it('says which of several terms is over when another node has begun a newer one, and looks only then', async () => {
    const calls: string[] = [];
    const leases = new NodeLeases({ store: counted(store, calls) });
    for (const name of ['one', 'other']) await leases.begin(name, 1, 'node');
    const renewBoth = () => passing(Promise.all(['one', 'other'].map((name) => renew(leases, name))));
    await passing(leases.look());
    calls.length = 0;
    assert.deepEqual([await renewBoth(), calls], [[true, true], ['renewAll']]);
    await store.begin('other', 2, 'another node', expiryMs);
    calls.length = 0;
    assert.deepEqual(
      [await renewBoth(), calls],
      [
        [true, false],
        ['renewAll', 'newestOfAll'],
      ],
    );
  });

  it('finds within half a minute that a newer term has begun although the older one was not removed', async () => {
    // The node that has begun the newer term has died before it removed this one.
    const renewAll = async (terms: ReadonlyArray<unknown>) => terms.length;
    const leases = new NodeLeases({
      store: Object.assign(new SlowLeaseStore(time, store, () => prompt), { renewAll }),
    });
    await store.begin('work', 1, 'node', expiryMs);
    const looking = leases.look();
    await time.pass(1_000);
    await looking;
    await store.begin('work', 2, 'another node', expiryMs);
    const renewals: boolean[] = [];
    const renewing = (async () => {
      do renewals.push(await renew(leases, 'work'));
      while (renewals.at(-1));
    })();
    await time.pass(25_000);
    assert.equal(renewals.at(-1), true);
    await time.pass(6_000);
    assert.equal(renewals.at(-1), false);
    await renewing;
  });

  it('lets another node take every lease within two seconds after a holder dies, whenever that is', async () => {
    for (let laterMs = 0; laterMs < 300; laterMs += 20) {
      const dying = start('dying');
      await time.pass(1_000);
      const standby = start('standby');
      await time.pass(3_000 + laterMs);
      assert.deepEqual([dying.working, standby.working], [names, []]);
      dying.freeze();
      await time.pass(2_000);
      assert.deepEqual(standby.working, names, `after ${laterMs} ms`);
      dying.thaw();
      const stopping = [dying.stop(), standby.stop()];
      await time.pass(10_000);
      await Promise.all(stopping);
    }
  });

  it('takes a released lease at the next look', async () => {
    const first = start('first');
    await time.pass(1_000);
    const second = start('second');
    await time.pass(3_000);
    const stopping = first.stop();
    await time.pass(defaultLeaseLimits.lookIntervalMs + 50);
    assert.deepEqual(second.working, names);
    await stopping;
  });

  it('asks nothing while no caller waits', async () => {
    const calls: string[] = [];
    const leases = new NodeLeases({ store: counted(store, calls) });
    await passing(leases.look());
    await time.pass(2 * defaultLeaseLimits.lookIntervalMs);
    assert.deepEqual(calls, ['newestOfAll']);
  });

  it('shows a term as over after its expiry, and not before', async () => {
    const leases = new NodeLeases({ store: new SlowLeaseStore(time, store, () => prompt) });
    await store.begin('work', 1, 'silent', expiryMs);
    const seen: boolean[] = [];
    const looking = (async () => {
      for (let looks = 0; looks < 8; looks += 1) seen.push((await leases.look()).get('work')?.isOver === true);
    })();
    await time.pass(5_000);
    await looking;
    assert.deepEqual(seen, [false, false, false, false, false, true, true, true]);
  });

  it('measures the calls that fail late, and none that fails immediately', async () => {
    const outcomes = { immediately: 1, late: 600 };
    for (const [when, failsAfterMs] of Object.entries(outcomes)) {
      const slow = new SlowLeaseStore(time, store, () => ({ ...lost, failsAfterMs }));
      const leases = new NodeLeases({ store: slow });
      for (let calls = 1; calls <= 3; calls += 1)
        await assert.rejects(passing(leases.begin('work', calls, 'node')), UnavailableError);
      assert.equal(leases.callLimitMs, when === 'late' ? 1_800 : 1_000, when);
    }
  });

  it('ignores the late answer to an older look', async () => {
    let outcome = prompt;
    const leases = new NodeLeases({ store: new SlowLeaseStore(time, store, () => outcome) });
    await store.begin('work', 1, 'silent', expiryMs);
    outcome = { ...prompt, answerDelayMs: 900 };
    const late = leases.look();
    await time.pass(10);
    outcome = prompt;
    await store.renewAll([{ name: 'work', token: 1 }], { number: 1, expiryMs });
    const looks: (boolean | undefined)[] = [];
    const looking = (async () => {
      for (let count = 0; count < 8; count += 1) looks.push((await leases.look()).get('work')?.isOver);
    })();
    await time.pass(5_000);
    await Promise.all([late, looking]);
    assert.equal(looks.indexOf(true), 5);
  });

  it('writes a release after the renewals of the same term', async () => {
    let outcome = prompt;
    const leases = new NodeLeases({ store: new SlowLeaseStore(time, store, () => outcome) });
    await store.begin('work', 1, 'node', expiryMs);
    outcome = { ...prompt, requestDelayMs: 500 };
    const renewed = renew(leases, 'work');
    await time.pass(10);
    outcome = prompt;
    const released = leases.release('work', 1);
    await time.pass(300);
    assert.deepEqual(store.newest('work'), { token: 1, holder: 'node', renewals: 0, expiryMs, released: false });
    await time.pass(3_000);
    assert.deepEqual(await Promise.all([renewed, released]), [true, undefined]);
    assert.deepEqual(store.newest('work'), { token: 1, holder: 'node', renewals: 1, expiryMs, released: true });
  });

  it('ends every wait when it is closed', async () => {
    const leases = new NodeLeases({ store });
    await passing(leases.look());
    const waiting = assert.rejects(leases.look(), UnavailableError);
    await leases.close();
    await waiting;
  });
});

/** Renews the first term of a lease. @returns whether it is the newest */
async function renew(leases: NodeLeases, name: string): Promise<boolean> {
  return (await leases.renew({ name, token: 1, minExpiryMs: expiryMs, isFirst: false })) !== null;
}

/** A node that is a candidate for leases, and watches one. */
class LeasingNode {
  /** The names of its calls of the store. */
  readonly calls: string[] = [];
  readonly #time: SimulatedTime;
  readonly #machine: SimulatedNode;
  readonly #working = new Set<string>();
  readonly #stopped = new AbortController();
  readonly #ended: Promise<unknown>;
  readonly #watch: LeaseWatch;

  constructor(time: SimulatedTime, store: InMemoryLeaseStore, holder: string, candidateFor: ReadonlyArray<string>) {
    this.#time = time;
    this.#machine = new SimulatedNode(holder);
    const leases = new NodeLeases({ store: counted(new SlowLeaseStore(time, store, () => prompt), this.calls) });
    const { signal } = this.#stopped;
    const compete = (name: string) =>
      underLease({ name, holder, leases, log: quiet, signal, work: (term) => this.#work(name, term.signal) });
    const isHolder = () => this.#working.has('batches');
    const watch = () => new LeaseWatch({ name: 'batches', leases, isHolder, log: quiet });
    this.#ended = time.runOn(this.#machine, () => Promise.all(candidateFor.map(compete)));
    this.#watch = time.runOn(this.#machine, watch);
  }

  get working(): ReadonlyArray<string> {
    return names.filter((name) => this.#working.has(name));
  }

  freeze(): void {
    this.#time.freeze(this.#machine);
  }

  thaw(): void {
    this.#time.thaw(this.#machine);
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await Promise.all([this.#ended, this.#watch.close()]);
  }

  async #work(name: string, ending: AbortSignal): Promise<void> {
    this.#working.add(name);
    await aborted(ending);
    this.#working.delete(name);
  }
}

/** A store that notes the names of its calls. */
function counted(store: LeaseStore, calls: string[]): LeaseStore {
  const note = <Result>(name: string, call: () => Result): Result => {
    calls.push(name);
    return call();
  };
  return {
    newestOfAll: () => note('newestOfAll', () => store.newestOfAll()),
    begin: (...given) => note('begin', () => store.begin(...given)),
    renewAll: (...given) => note('renewAll', () => store.renewAll(...given)),
    release: (...given) => note('release', () => store.release(...given)),
    close: () => store.close(),
  };
}
