import assert from 'node:assert/strict';
import { once } from 'node:events';
import { NodeLeases } from '#leases/node-leases.ts';
import { onceOnOneNode } from '#leases/once-on-one-node.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { InMemoryLeaseStore } from '#test/support/fakes/in-memory-lease-store.ts';

const log = { info: () => {}, warn: () => {}, error: () => {} };
const limits = { renewIntervalMs: 20, lookIntervalMs: 5 };

describe('onceOnOneNode', () => {
  const { signal } = new AbortController();
  const options = (node: string, leases: InMemoryLeaseStore, timeoutMs = 5_000) => ({
    name: 'work',
    node,
    leases: new NodeLeases({ store: leases, limits }),
    log,
    signal,
    limits,
    timeoutMs,
  });

  it('does the work of several nodes one after the other, and gives each its result', async () => {
    const leases = new InMemoryLeaseStore();
    let atWork = 0;
    const work = (result: number) => async () => {
      atWork += 1;
      assert.equal(atWork, 1);
      await new Promise((resolve) => setTimeout(resolve, 10));
      atWork -= 1;
      return result;
    };
    const results = await Promise.all(
      [1, 2, 3].map((each) => onceOnOneNode(options(`node-${each}`, leases), work(each))),
    );
    assert.deepEqual(results, [1, 2, 3]);
    assert.equal(leases.newest('work')?.released, true);
  });

  it('releases the lease when the work fails, and passes the failure on', async () => {
    const leases = new InMemoryLeaseStore();
    const failing = onceOnOneNode(options('one', leases), async () => {
      throw new Error('It cannot be done.');
    });
    await assert.rejects(failing, /It cannot be done/);
    assert.equal(leases.newest('work')?.released, true);
  });

  it('gives up when another node holds the lease for too long', async () => {
    const leases = new InMemoryLeaseStore();
    const holding = new AbortController();
    const held = onceOnOneNode(options('one', leases), async () => {
      await new Promise((resolve) => holding.signal.addEventListener('abort', resolve, { once: true }));
    });
    await new Promise((resolve) => setTimeout(resolve, 30));
    const late = onceOnOneNode(options('two', leases, 50), async () => assert.fail('it must not run'));
    await assert.rejects(late, new UnavailableError('No turn of work has come to its end on this node in time.'));
    holding.abort();
    await held;
  });

  it('gives up when it has lost the lease and another node holds it for too long', async () => {
    const leases = new InMemoryLeaseStore();
    const working = Promise.withResolvers<void>();
    const losing = onceOnOneNode(options('one', leases, 50), async (term) => {
      working.resolve();
      await once(term.signal, 'abort');
      throw new Error('The lease is lost.');
    });
    await working.promise;
    await leases.begin('work', 2, 'two', 60_000);
    await assert.rejects(losing, UnavailableError);
  });
});
