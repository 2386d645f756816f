import assert from 'node:assert/strict';
import { bootstrap, createFirstKey, isBootstrapped } from '#app/startup/bootstrap.ts';
import { bootstrapEmptyStore } from '#app/startup/first-start.ts';
import { StreamWriter } from '#application/streams/stream-writer.ts';
import { UnreadableStreamError } from '#event-store/unreadable-stream.ts';
import { NodeLeases } from '#leases/node-leases.ts';
import { StartupError } from '#shared/errors/startup-error.ts';
import { AppendableEventStore } from '#test/support/fakes/appendable-event-store.ts';
import { InMemoryLeaseStore } from '#test/support/fakes/in-memory-lease-store.ts';

const log = { info: () => undefined, warn: () => undefined, error: assert.fail };

describe('bootstrapEmptyStore', () => {
  it('prints one admin key when several nodes start at the same time', async () => {
    const store = new AppendableEventStore();
    const leases = new InMemoryLeaseStore();
    const printedKeys: string[] = [];
    const start = (node: string) =>
      bootstrapEmptyStore({
        writer: new StreamWriter({ store }),
        givenKey: null,
        printAdminKey: (key) => printedKeys.push(key),
        leases: new NodeLeases({ store: leases }),
        node,
        log,
      });
    await Promise.all(['a', 'b', 'c'].map(start));
    assert.equal(printedKeys.length, 1);
    await start('d');
    assert.equal(printedKeys.length, 1);
    assert.equal(store.log.filter(({ type }) => type === 'ApiKeyCreated').length, 1);
  });

  it('does not print an admin key from the configuration', async () => {
    const writer = new StreamWriter({ store: new AppendableEventStore() });
    const givenKey = `sy_live_${'a'.repeat(40)}`;
    await bootstrapEmptyStore({ writer, givenKey, printAdminKey: () => assert.fail(), leases: null, node: 'a', log });
    assert.ok(await isBootstrapped(writer));
  });

  it('fails with one line when the server refuses to write the lease', async () => {
    const store = new InMemoryLeaseStore();
    store.begin = () => Promise.reject(Object.assign(new Error('not authorized on switchyard'), { code: 13 }));
    const writer = new StreamWriter({ store: new AppendableEventStore() });
    const leases = new NodeLeases({ store });
    await assert.rejects(
      bootstrapEmptyStore({ writer, givenKey: null, printAdminKey: assert.fail, leases, node: 'a', log }),
      (error) => error instanceof StartupError && /^READ_STORE_URL: .*not authorized/.test(error.message),
    );
  });

  it('makes no second first key when the stream of the first one lacks events', async () => {
    const store = new AppendableEventStore();
    await bootstrap(new StreamWriter({ store }), createFirstKey(`sy_live_${'b'.repeat(40)}`, assert.fail));
    store.read = async (stream) => {
      throw new UnreadableStreamError({ stream, expectedRevision: 0, foundRevision: 1 }, '$tb is 1');
    };
    const writer = new StreamWriter({ store });
    const fail = () => assert.fail();
    await bootstrapEmptyStore({ writer, givenKey: null, printAdminKey: fail, leases: null, node: 'a', log });
  });

  it('prints the same key when it is retried, and returns false when another node’s key became the first', async () => {
    const store = new AppendableEventStore();
    const printedKeys: string[] = [];
    const own = createFirstKey(null, (key) => printedKeys.push(key));
    const ownKey = own.text();
    assert.equal(
      await bootstrap(new StreamWriter({ store }), createFirstKey(`sy_live_${'b'.repeat(40)}`, assert.fail)),
      true,
    );
    assert.equal(await bootstrap(new StreamWriter({ store }), own), false);
    assert.deepEqual(printedKeys, [ownKey]);
    assert.equal(own.text(), ownKey);
  });
});
