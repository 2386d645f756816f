import assert from 'node:assert/strict';
import { NodeLeases } from '#leases/node-leases.ts';
import { onOneNode } from '#leases/on-one-node.ts';
import type { Term } from '#leases/term.ts';
import { aborted } from '#shared/async/timed-waits.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { InMemoryLeaseStore } from '#test/support/fakes/in-memory-lease-store.ts';
import { Random } from '#test/worlds/random.ts';
import { SimulatedTime } from '#test/worlds/simulated-time.ts';

const never = () => new Promise<never>(() => undefined);

describe('Work of one node that is left', () => {
  let time: SimulatedTime;
  let stopping: AbortController;
  let isCut: boolean;
  let terms: Term[];
  let logged: string[];
  let stopped: Promise<unknown>;

  beforeEach(() => {
    time = new SimulatedTime(new Random(1)).install();
    stopping = new AbortController();
    [isCut, terms, logged, stopped] = [false, [], [], Promise.resolve()];
  });
  afterEach(async () => {
    stopping.abort();
    await time.pass(60_000);
    await stopped;
    time[Symbol.dispose]();
  });

  /** A node's leases, which cannot be reached while they are cut off. */
  const leases = () => {
    const store = new InMemoryLeaseStore();
    const reached = new Proxy(store, {
      get(target, name) {
        const member: unknown = Reflect.get(target, name, target);
        if (typeof member !== 'function') return member;
        return isCut ? () => Promise.reject(new UnavailableError('It is cut off.')) : member.bind(target);
      },
    });
    return new NodeLeases({ store: reached });
  };
  const start = (on: NodeLeases | null, work: (term: Term) => Promise<void>) => {
    const failureMessage = 'The work has failed';
    stopped = onOneNode({
      ...{ name: 'work', leases: on, node: 'one', signal: stopping.signal, failureMessage },
      log: { info: () => undefined, warn: () => undefined, error: (_, message) => logged.push(message) },
      work: (term) => {
        terms.push(term);
        return work(term);
      },
    });
  };
  const tokens = () => terms.map(({ token }) => token);

  it('does not keep the node from holding the lease again, and has no late effect', async () => {
    const answer = Promise.withResolvers<void>();
    const effects: number[] = [];
    start(leases(), async ({ token, signal, guard }) => {
      const record = guard(() => effects.push(token));
      await (token === 1 ? answer.promise : aborted(signal));
      record();
    });
    await time.pass(5_000);
    isCut = true;
    await time.pass(3_000);
    isCut = false;
    await time.pass(5_000);
    assert.deepEqual([tokens(), logged], [[1], []]);
    await time.pass(10_000);
    assert.deepEqual(tokens(), [1, 2]);
    assert.match(logged.join(), /^Work has not ended 10 s after its term/);
    answer.resolve();
    await time.pass(5_000);
    assert.deepEqual([effects, tokens(), terms[1]?.isHeld()], [[], [1, 2], true]);
  });

  it('is restarted after a part of it has failed, also on a single node', async () => {
    start(null, async ({ fail, signal }) => {
      if (terms.length > 1) return aborted(signal);
      fail(new Error('A part has failed.'));
      return never();
    });
    await time.pass(9_000);
    assert.equal(terms.length, 1);
    await time.pass(10_000);
    assert.deepEqual([terms.map((term) => term.isHeld()), logged.at(-1)], [[false, true], 'The work has failed']);
  });

  for (const kind of ['under a lease', 'on a single node'])
    it(`does not keep the node from stopping ${kind}`, async () => {
      start(kind === 'under a lease' ? leases() : null, never);
      await time.pass(5_000);
      stopping.abort();
      let hasStopped = false;
      void stopped.then(() => {
        hasStopped = true;
      });
      await time.pass(9_000);
      assert.equal(hasStopped, false);
      await time.pass(3_000);
      assert.equal(hasStopped, true);
    });
});
