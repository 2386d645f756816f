import assert from 'node:assert/strict';
import { LeaseMutex } from '#leases/lease-mutex.ts';
import type { Leases } from '#leases/leases.ts';
import { NodeLeases } from '#leases/node-leases.ts';
import type { Term } from '#leases/term.ts';
import { aborted } from '#shared/async/timed-waits.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { InMemoryLeaseStore } from '#test/support/fakes/in-memory-lease-store.ts';
import { Random } from '#test/worlds/random.ts';
import { SimulatedTime } from '#test/worlds/simulated-time.ts';

const never = () => new Promise<never>(() => undefined);
const hourMs = 3_600_000;

const log = { info: () => undefined, warn: () => undefined, error: () => undefined };

describe('LeaseMutex after a lost release', () => {
  it('begins the next piece without a wait for the expiry of its own term', async () => {
    using time = new SimulatedTime(new Random(1)).install();
    const store = new InMemoryLeaseStore();
    store.release = async () => {
      throw new UnavailableError('The store of leases cannot be reached.');
    };
    const turns = new LeaseMutex({
      name: 'digests',
      leases: new NodeLeases({ store }),
      node: 'one',
      timeoutMs: 20_000,
      log,
    });
    const starts = Promise.all([1, 2].map(() => turns.run(async () => time.now)));
    await time.pass(10_000);
    const [first = 0, second = 0] = await starts;
    assert.ok(second - first < 1_000, `${second - first} ms`);
  });
});

for (const kind of ['without leases', 'under leases'])
  describe(`LeaseMutex ${kind}`, () => {
    let time: SimulatedTime;
    let turns: LeaseMutex;
    let errors: string[];

    beforeEach(() => {
      time = new SimulatedTime(new Random(1)).install();
      errors = [];
      const leases: Leases | null =
        kind === 'under leases' ? new NodeLeases({ store: new InMemoryLeaseStore() }) : null;
      const log = {
        info: () => undefined,
        warn: () => undefined,
        error: (_: object, text: string) => errors.push(text),
      };
      turns = new LeaseMutex({ name: 'digests', leases, node: 'one', timeoutMs: 20_000, log });
    });
    afterEach(() => time[Symbol.dispose]());

    it('runs the pieces one after the other, and gives each its result', async () => {
      const results = Promise.all([1, 2].map((each) => turns.run(async () => each)));
      await time.pass(10_000);
      assert.deepEqual(await results, [1, 2]);
    });

    it('leaves a piece that does not end, and runs the next one', async () => {
      const refused = assert.rejects(turns.run(never), UnavailableError);
      const next = turns.run(async () => time.now);
      await time.pass(hourMs + 60_000);
      await refused;
      const at = await next;
      assert.ok(at >= hourMs + 10_000 && at < hourMs + 20_000, `${at}`);
      assert.equal(errors.length, 1);
    });

    it('ends within 10 s when it stops, although its piece does not end, and ignores its late result', async () => {
      const finished = Promise.withResolvers<string>();
      const terms: Term[] = [];
      const refused = assert.rejects(
        turns.run((term) => {
          terms.push(term);
          return finished.promise;
        }),
        UnavailableError,
      );
      await time.pass(1_000);
      let stoppedAt = 0;
      void turns.stop().then(() => {
        stoppedAt = time.now;
      });
      await time.pass(20_000);
      await refused;
      assert.ok(stoppedAt >= 11_000 && stoppedAt < 13_000, `${stoppedAt}`);
      finished.resolve('late');
      await time.pass(1_000);
      assert.equal(terms[0]?.isHeld(), false);
    });

    it('waits for a piece that ends when it is stopped', async () => {
      const running = turns.run(async ({ signal }) => {
        await aborted(signal);
        return 'ended';
      });
      await time.pass(1_000);
      void turns.stop();
      await time.pass(1_000);
      assert.equal(await running, 'ended');
    });
  });
