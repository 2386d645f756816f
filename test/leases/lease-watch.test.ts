import assert from 'node:assert/strict';
import type { LeaseTerm } from '#leases/lease-store.ts';
import { LeaseWatch } from '#leases/lease-watch.ts';
import type { ObservedTerm } from '#leases/leases.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { InMemoryLeaseStore } from '#test/support/fakes/in-memory-lease-store.ts';
import { Random } from '#test/worlds/random.ts';
import { SimulatedTime } from '#test/worlds/simulated-time.ts';

describe('LeaseWatch', () => {
  let time: SimulatedTime;
  let store: InMemoryLeaseStore;
  let failure: Error | null;
  let warnings: string[];
  let watch: LeaseWatch;
  let renewing: boolean;
  let isHolder: boolean;
  let looks: number;
  let rounds: number;
  let expiryMs: number;

  beforeEach(() => {
    time = new SimulatedTime(new Random(1)).install();
    store = new InMemoryLeaseStore();
    failure = null;
    warnings = [];
    renewing = false;
    isHolder = false;
    looks = 0;
    rounds = 0;
    expiryMs = 1_400;
    watch = new LeaseWatch({
      name: 'batches',
      leases: {
        look: async () => {
          looks += 1;
          if (failure !== null) throw failure;
          rounds += 1;
          if (renewing) await store.renewAll([{ name: 'batches', token: 1 }], { number: rounds, expiryMs });
          return new Map(Array.from(await store.newestOfAll(), observed));
        },
      },
      isHolder: () => isHolder,
      log: { info: () => {}, warn: (_, message) => warnings.push(message), error: () => assert.fail() },
    });
  });
  afterEach(async () => {
    const closing = watch.close();
    await time.pass(1_000);
    await closing;
    time[Symbol.dispose]();
  });

  /** The answer of the watch, and the milliseconds until it came. */
  const ask = async () => {
    const askedAt = time.now;
    const answers: (readonly [boolean, number])[] = [];
    void watch.isHeld().then((isHeld) => answers.push([isHeld, time.now - askedAt]));
    for (;;) {
      const [answer] = answers;
      if (answer !== undefined) return answer;
      await time.pass(250);
    }
  };
  const hold = async () => {
    await store.begin('batches', 1, 'holder', expiryMs);
    renewing = true;
  };

  it('finds a live holder at its second look', async () => {
    await hold();
    const [isHeld, tookMs] = await ask();
    assert.ok(isHeld && tookMs <= 1_000, `${isHeld} after ${tookMs} ms`);
  });

  it('finds after three seconds that no node holds the lease', async () => {
    const [isHeld, tookMs] = await ask();
    assert.equal(isHeld, false);
    assert.ok(tookMs >= 3_000 && tookMs <= 3_500, `${tookMs} ms`);
  });

  it('counts a holder that no longer renews as dead after twelve seconds', async () => {
    await hold();
    await time.pass(5_000);
    renewing = false;
    assert.deepEqual(await ask(), [true, 0]);
    await time.pass(12_100);
    assert.deepEqual(await ask(), [false, 0]);
  });

  it('counts a holder on a slow store as dead after three of its expiries', async () => {
    expiryMs = 8_000;
    await hold();
    await time.pass(5_000);
    renewing = false;
    await time.pass(19_000);
    assert.deepEqual(await ask(), [true, 0]);
    await time.pass(1_100);
    assert.deepEqual(await ask(), [false, 0]);
  });

  it('knows at its next look that a holder has released the lease, and soon that another node has taken it', async () => {
    await hold();
    await time.pass(5_000);
    renewing = false;
    await store.release('batches', 1);
    await time.pass(10_500);
    assert.deepEqual(await ask(), [false, 0]);
    await store.begin('batches', 2, 'next', expiryMs);
    await time.pass(600);
    assert.deepEqual(await ask(), [true, 0]);
  });

  it('knows that a holder has released the lease before its silence would tell', async () => {
    await hold();
    await time.pass(15_000);
    renewing = false;
    await store.release('batches', 1);
    await time.pass(6_000);
    assert.deepEqual(await ask(), [false, 0]);
  });

  it('searches for the next holder after a release, even without a call', async () => {
    await hold();
    await time.pass(15_000);
    renewing = false;
    await store.release('batches', 1);
    await time.pass(6_000);
    await store.begin('batches', 2, 'next', expiryMs);
    await time.pass(600);
    assert.deepEqual(await ask(), [true, 0]);
  });

  it('does not search for long after a release that it has seen', async () => {
    await hold();
    await time.pass(15_000);
    renewing = false;
    await store.release('batches', 1);
    await time.pass(20_000);
    looks = 0;
    await time.pass(60_000);
    assert.equal(looks, 6);
  });

  it('looks no more once it is closed', async () => {
    await time.pass(1_000);
    const closing = watch.close();
    await time.pass(1_000);
    await closing;
    looks = 0;
    await time.pass(60_000);
    assert.deepEqual([looks, await watch.isHeld()], [0, false]);
  });

  it('logs each outage of the store of leases once, with the name of the lease, and its end', async () => {
    for (let outage = 1; outage <= 2; outage += 1) {
      failure = new UnavailableError('It is down.');
      await time.pass(25_000);
      assert.equal(warnings.length, outage);
      failure = null;
      await time.pass(25_000);
    }
    assert.match(warnings[0] ?? '', /store of leases/);
  });

  for (const isSomeNodeHolder of [true, false]) {
    it(`looks every ten seconds while ${isSomeNodeHolder ? 'a' : 'no'} node holds the lease and nobody asks`, async () => {
      if (isSomeNodeHolder) await hold();
      await time.pass(5_000);
      looks = 0;
      await time.pass(60_000);
      assert.equal(looks, 6);
    });
  }

  it('finds a holder soon after the answer that no node holds the lease', async () => {
    await time.pass(60_000);
    assert.deepEqual(await ask(), [false, 0]);
    await hold();
    await time.pass(1_100);
    assert.deepEqual(await ask(), [true, 0]);
  });

  it('knows immediately that this node holds the lease, and does not look then', async () => {
    isHolder = true;
    await time.pass(2_100);
    looks = 0;
    await time.pass(60_000);
    assert.deepEqual([await ask(), looks], [[true, 0], 0]);
  });

  it('looks again after this node has lost the lease, and counts it as held only while another node renews it', async () => {
    isHolder = true;
    await time.pass(10_000);
    isHolder = false;
    assert.deepEqual(await ask(), [false, 0]);
    await hold();
    await time.pass(1_100);
    assert.deepEqual(await ask(), [true, 0]);
  });

  for (const error of [new UnavailableError('It is down.'), new Error('a defect')]) {
    it(`logs one line and looks again after a look that throws ${error.name}`, async () => {
      failure = error;
      await time.pass(5_000);
      assert.equal(warnings.length, 1);
      failure = null;
      await hold();
      assert.deepEqual(await ask(), [false, 0]);
      await time.pass(2_000);
      assert.deepEqual(await ask(), [true, 0]);
    });
  }
});

function observed([name, term]: [string, LeaseTerm]): [string, ObservedTerm] {
  return [name, { ...term, isOver: term.released }];
}
