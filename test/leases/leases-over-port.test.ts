import assert from 'node:assert/strict';
import { once } from 'node:events';
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import type { LeaseStore } from '#leases/lease-store.ts';
import { LeasesOverPort, serveLeases } from '#leases/leases-over-port.ts';
import { NodeLeases } from '#leases/node-leases.ts';
import { minExpiryMs } from '#leases/round-times.ts';
import { underLease } from '#leases/under-lease.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { InMemoryLeaseStore } from '#test/support/fakes/in-memory-lease-store.ts';
import { eventually } from '#test/support/run/eventually.ts';

const limits = { renewIntervalMs: 20, lookIntervalMs: 20 };
/** The expiry of terms on a fast store. */
const expiryMs = minExpiryMs;
const expiry = { expiryMs, nextMs: expiryMs };
const quiet = { info: () => {}, warn: () => {}, error: () => {} };

describe('LeasesOverPort', () => {
  let store: InMemoryLeaseStore;
  let leases: LeasesOverPort;
  let served: MessagePort;

  const open = (stored: LeaseStore) => {
    const { port1, port2 } = new MessageChannel();
    served = port1;
    serveLeases(new NodeLeases({ store: stored, limits }), port1);
    leases = new LeasesOverPort(port2);
  };
  beforeEach(() => {
    store = new InMemoryLeaseStore();
  });
  afterEach(async () => {
    const closed = once(served, 'close');
    leases.close();
    await closed;
  });

  it('begins, shows, renews and releases terms like the leases of the node', async () => {
    open(store);
    assert.deepEqual(await leases.look(), new Map());
    assert.deepEqual(await leases.begin('work', 1, 'node'), expiry);
    assert.equal(await leases.begin('work', 1, 'other'), null);
    const renewal = { name: 'work', token: 1, minExpiryMs: 2_000, isFirst: true };
    assert.deepEqual(await leases.renew(renewal), { expiryMs: 2_000, nextMs: expiryMs });
    const { renewals } = store.newest('work') ?? assert.fail();
    const term = { token: 1, holder: 'node', renewals, expiryMs: 2_000, released: false };
    assert.deepEqual(await leases.look(), new Map([['work', { ...term, isOver: false }]]));
    await leases.release('work', 1);
    assert.deepEqual(await leases.look(), new Map([['work', { ...term, released: true, isOver: true }]]));
    await store.begin('work', 2, 'other', expiryMs);
    assert.equal(await leases.renew(renewal), null);
  });

  it('passes on whether a failure is an outage', async () => {
    let failure: Error = new UnavailableError('It is down.');
    open(Object.assign(store, { newestOfAll: () => Promise.reject(failure) }));
    await assert.rejects(
      leases.look(),
      (error) => error instanceof UnavailableError && /It is down/.test(error.message),
    );
    failure = new Error('a defect');
    await assert.rejects(leases.look(), (error) => !(error instanceof UnavailableError) && /a defect/.test(`${error}`));
  });

  it('throws an UnavailableError when the other thread does not answer in time', async () => {
    open(Object.assign(store, { newestOfAll: () => new Promise(() => {}) }));
    await assert.rejects(leases.look(), UnavailableError);
  });

  it('ends the calls that wait when it is closed, so that they do not keep their thread from its end', async () => {
    open(Object.assign(store, { newestOfAll: () => new Promise(() => undefined) }));
    const looking = assert.rejects(leases.look(), UnavailableError);
    leases.close();
    await looking;
    open(store);
  });

  it('loses a term when the thread that asks the store answers no more, and takes the lease again afterwards', async () => {
    const [look, renewAll] = [store.newestOfAll.bind(store), store.renewAll.bind(store)];
    const { promise: thawed, resolve: thaw } = Promise.withResolvers<void>();
    let isFrozen = false;
    const slow =
      <Given extends ReadonlyArray<unknown>, Answer>(ask: (...given: Given) => Promise<Answer>) =>
      async (...given: Given) => {
        if (isFrozen) await thawed;
        return ask(...given);
      };
    open(Object.assign(store, { newestOfAll: slow(look), renewAll: slow(renewAll) }));
    const stopping = new AbortController();
    const tokens: number[] = [];
    let working = false;
    const ended = underLease({
      ...{ name: 'work', holder: 'node', leases, limits, log: quiet, signal: stopping.signal },
      work: async ({ token, signal }) => {
        tokens.push(token);
        working = true;
        await once(signal, 'abort');
        working = false;
      },
    });
    await eventually(() => working, 'it holds the lease');
    isFrozen = true;
    await eventually(() => !working, 'it has lost the lease');
    isFrozen = false;
    thaw();
    await eventually(() => tokens.length === 2, 'it holds the lease again');
    assert.deepEqual(tokens, [1, 2]);
    stopping.abort();
    await ended;
  });
});
