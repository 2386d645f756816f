import assert from 'node:assert/strict';
import { once } from 'node:events';
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import type { LeaseStore } from '#leases/lease-store.ts';
import { LeasesOverPort, serveLeases } from '#leases/leases-over-port.ts';
import { NodeLeases } from '#leases/node-leases.ts';
import { underLease } from '#leases/under-lease.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { InMemoryLeaseStore } from '#test/support/fakes/in-memory-lease-store.ts';
import { eventually } from '#test/support/run/eventually.ts';

const limits = { renewIntervalMs: 20, expireAfterMs: 2_000, lookIntervalMs: 20 };
const quiet = { info: () => {}, warn: () => {}, error: () => {} };

describe('LeasesOverPort', () => {
  let store: InMemoryLeaseStore;
  let leases: LeasesOverPort;
  let served: MessagePort;

  const open = (stored: LeaseStore, timeoutMs?: number) => {
    const { port1, port2 } = new MessageChannel();
    served = port1;
    serveLeases(new NodeLeases({ store: stored, limits }), port1);
    leases = new LeasesOverPort(port2, timeoutMs);
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
    assert.equal(await leases.begin('work', 1, 'node'), true);
    assert.equal(await leases.begin('work', 1, 'other'), false);
    assert.equal(await leases.renew('work', 1), true);
    const term = { token: 1, holder: 'node', renewals: 1, released: false };
    assert.deepEqual(await leases.look(), new Map([['work', { ...term, isOver: false }]]));
    await leases.release('work', 1);
    assert.deepEqual(await leases.look(), new Map([['work', { ...term, released: true, isOver: true }]]));
    await store.begin('work', 2, 'other');
    assert.equal(await leases.renew('work', 1), false);
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
    open(Object.assign(store, { newestOfAll: () => new Promise(() => {}) }), 50);
    await assert.rejects(leases.look(), UnavailableError);
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
    open(Object.assign(store, { newestOfAll: slow(look), renewAll: slow(renewAll) }), 100);
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
