import assert from 'node:assert/strict';
import { bootstrap, createFirstKey, isBootstrapped } from '#app/startup/bootstrap.ts';
import { bootstrapEmptyStore } from '#app/startup/first-start.ts';
import { StreamWriter } from '#application/commands/stream-writer.ts';
import { AppendableEventStore } from '#test/support/fakes/appendable-event-store.ts';
import { InMemoryLeaseStore } from '#test/support/fakes/in-memory-lease-store.ts';

const log = { info: () => undefined, warn: () => undefined, error: assert.fail };

describe('the first start', () => {
  it('is made once by nodes that start at once: one key is told', async () => {
    const store = new AppendableEventStore();
    const leases = new InMemoryLeaseStore();
    const told: string[] = [];
    const start = (node: string) =>
      bootstrapEmptyStore({
        handler: new StreamWriter({ store }),
        givenKey: null,
        printAdminKey: (key) => told.push(key),
        leases,
        node,
        log,
      });
    await Promise.all(['a', 'b', 'c'].map(start));
    assert.equal(told.length, 1);
    await start('d');
    assert.equal(told.length, 1);
    assert.equal(store.log.filter(({ type }) => type === 'ApiKeyCreated').length, 1);
  });

  it('leaves a key that is given untold', async () => {
    const handler = new StreamWriter({ store: new AppendableEventStore() });
    const givenKey = `sy_live_${'a'.repeat(40)}`;
    await bootstrapEmptyStore({ handler, givenKey, printAdminKey: () => assert.fail(), leases: null, node: 'a', log });
    assert.ok(await isBootstrapped(handler));
  });

  it('tells the same key when it is tried again, and knows when another node’s became the first', async () => {
    const store = new AppendableEventStore();
    const told: string[] = [];
    const own = createFirstKey(null, (key) => told.push(key));
    const slept = own.text();
    assert.equal(
      await bootstrap(new StreamWriter({ store }), createFirstKey(`sy_live_${'b'.repeat(40)}`, assert.fail)),
      true,
    );
    assert.equal(await bootstrap(new StreamWriter({ store }), own), false);
    assert.deepEqual(told, [slept]);
    assert.equal(own.text(), slept);
  });
});
