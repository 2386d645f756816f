import assert from 'node:assert/strict';
import * as E from 'fp-ts/lib/Either.js';
import { requestAnswered } from '#application/commands/stream-state.ts';
import { StreamWriter } from '#application/commands/stream-writer.ts';
import { verifyChain } from '#event-store/hash-chain.ts';
import { names, namesSet } from '#test/support/events/names.ts';
import { ids, tenants } from '#test/support/events/tenants.ts';
import { AppendableEventStore } from '#test/support/fakes/appendable-event-store.ts';

const id = ids.flow;
const stream = `names-${id}`;
const origin = {
  actor: { keyId: 'ckeyadmin0000000', keyType: 'admin' },
  requestId: 'request',
  correlationId: 'correlation',
  causationId: 'cause',
};

/** Appends one more name: what was decided on shows in the result. */
const addName = (handler: StreamWriter, name: string) =>
  handler.write({
    entity: names,
    id,
    origin,
    decide: ({ state }) => E.right({ events: [namesSet(`${state} ${name}`)], tenant: null }),
  });

async function begun(options: { deadlineMilliseconds?: number; now?: () => Date; soleWriter?: boolean } = {}) {
  const store = new AppendableEventStore();
  const handler = new StreamWriter({ store, ...options });
  const decide = () => E.right({ events: [namesSet('names:')], tenant: tenants.project });
  assert.ok(E.isRight(await handler.write({ entity: names, id, origin, decide })));
  return { store, handler };
}

const nameIn = async (handler: StreamWriter) => (await handler.load(names, id)).state;

describe('command handler', () => {
  it('gives the state after its events, and the events as stored', async () => {
    const { store, handler } = await begun();
    const handled = await addName(handler, 'a');
    assert.ok(E.isRight(handled));
    assert.equal(handled.right.stream.state, 'names: a');
    assert.equal(handled.right.stream.revision, 1);
    assert.deepEqual(handled.right.events, store.streamOf(stream).slice(1));
  });

  it('writes who, why and whose into every event, and a chain that holds', async () => {
    const { store, handler } = await begun();
    await addName(handler, 'a');
    for (const { metadata } of store.log) {
      assert.deepEqual(metadata.actor, origin.actor);
      assert.deepEqual(
        [metadata.requestId, metadata.$correlationId, metadata.$causationId],
        ['request', 'correlation', 'cause'],
      );
      const { organizationId, projectId, partnerId } = metadata;
      assert.deepEqual({ organizationId, projectId, partnerId }, tenants.project);
      assert.match(metadata.time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    }
    assert.equal(verifyChain(store.raw), null);
  });

  it('never goes back in time within a stream', async () => {
    const clock = ['2026-01-05T10:00:00.000Z', '2026-01-05T09:00:00.000Z', '2026-01-05T11:00:00.000Z'];
    const { store, handler } = await begun({ now: () => new Date(clock.shift() ?? 0) });
    await addName(handler, 'a');
    await addName(handler, 'b');
    assert.deepEqual(
      store.log.map(({ metadata }) => metadata.time),
      ['2026-01-05T10:00:00.000Z', '2026-01-05T10:00:00.000Z', '2026-01-05T11:00:00.000Z'],
    );
  });

  it('decides again on the new state after a conflict', async () => {
    const { store, handler } = await begun();
    const other = new StreamWriter({ store });
    let conflicts = 3;
    store.beforeAppend = async () => {
      if (conflicts === 0) return null;
      conflicts -= 1;
      const before = store.beforeAppend;
      store.beforeAppend = async () => null;
      await addName(other, `other${conflicts}`);
      store.beforeAppend = before;
      return null;
    };
    assert.ok(E.isRight(await addName(handler, 'mine')));
    assert.equal(await nameIn(handler), 'names: other2 other1 other0 mine');
    assert.equal(verifyChain(store.raw), null);
  });

  it('gives up conflicts that do not end, at its deadline', async () => {
    const { store, handler } = await begun({ deadlineMilliseconds: 60 });
    store.beforeAppend = async () => ({ kind: 'conflict', actualRevision: 7 });
    const began = performance.now();
    const handled = await addName(handler, 'mine');
    assert.equal(E.isLeft(handled) && handled.left.code, 'too-many-conflicts');
    assert.ok(performance.now() - began < 2_000);
    assert.equal(store.log.length, 1);
  });

  it('tells why the store took nothing', async () => {
    const { store, handler } = await begun();
    store.beforeAppend = async () => ({ kind: 'unavailable', detail: 'it is closing', retryAfterSeconds: 3 });
    const unavailable = await addName(handler, 'a');
    assert.ok(E.isLeft(unavailable));
    assert.deepEqual([unavailable.left.code, unavailable.left.retryAfterSeconds], ['unavailable', 3]);
    store.beforeAppend = async () => ({ kind: 'append-too-large', bytes: 11, maxBytes: 10 });
    const large = await addName(handler, 'a');
    assert.equal(E.isLeft(large) && large.left.code, 'append-too-large');
  });

  it('lets 64 commands on one stream all succeed, in their order', async () => {
    const { store, handler } = await begun();
    const numbers = Array.from({ length: 64 }, (_, number) => String(number));
    const handled = await Promise.all(numbers.map((number) => addName(handler, number)));
    assert.ok(handled.every(E.isRight));
    assert.equal(await nameIn(handler), `names: ${numbers.join(' ')}`);
    assert.equal(store.streamOf(stream).length, 65);
  });

  it('lets 64 commands of two processes on one stream all succeed', async () => {
    const { store, handler } = await begun();
    const handlers = [handler, new StreamWriter({ store })];
    const numbers = Array.from({ length: 64 }, (_, number) => String(number));
    const handled = await Promise.all(numbers.map((number, index) => addName(handlers[index % 2] ?? handler, number)));
    assert.ok(handled.every(E.isRight));
    const names = (await nameIn(handler)).split(' ').slice(1) ?? [];
    assert.deepEqual(names.toSorted(), numbers.toSorted());
    assert.deepEqual(
      store.streamOf(stream).map(({ revision }) => revision),
      Array.from({ length: 65 }, (_, revision) => revision),
    );
    assert.equal(verifyChain(store.raw), null);
  });

  it('reads only what is newer than what it knows', async () => {
    const { store, handler } = await begun();
    await addName(handler, 'a');
    await addName(new StreamWriter({ store }), 'b');
    store.reads.length = 0;
    assert.equal(await nameIn(handler), 'names: a b');
    assert.deepEqual(store.reads, [[stream, 2]]);
  });

  it('reads nothing again where it is the sole writer', async () => {
    const { store, handler } = await begun({ soleWriter: true });
    store.reads.length = 0;
    await addName(handler, 'a');
    assert.equal(await nameIn(handler), 'names: a');
    assert.deepEqual(store.reads, []);
  });

  it('reads what somebody knows to be stored, though the append is not answered yet', async () => {
    const { store, handler } = await begun({ soleWriter: true });
    const answer = Promise.withResolvers<void>();
    const append = store.append.bind(store);
    store.append =
      (...args) =>
      async () => {
        const appended = await append(...args)();
        await answer.promise;
        return appended;
      };
    const adding = addName(handler, 'a');
    while (store.log.length < 2) await new Promise((resolve) => setImmediate(resolve));
    assert.equal(await nameIn(handler), 'names:');
    assert.equal((await handler.load(names, id, 1)).state, 'names: a');
    answer.resolve();
    assert.ok(E.isRight(await adding));
    assert.equal(store.log.length, 2);
  });

  it('reads anew what an append that was given up may yet change, sole writer or not', async () => {
    const { store, handler } = await begun({ soleWriter: true });
    store.beforeAppend = async () => ({ kind: 'unavailable', detail: 'the disk stands still.', retryAfterSeconds: 1 });
    assert.ok(E.isLeft(await addName(handler, 'lost')));
    assert.equal(await nameIn(handler), 'names:');
    store.beforeAppend = async () => null;
    await addName(new StreamWriter({ store }), 'late');
    assert.equal(await nameIn(handler), 'names: late');
  });

  it('reads a long stream in parts, now and as it was', async () => {
    const { store, handler } = await begun();
    for (let number = 0; number < 199; number += 1) await addName(handler, '.');
    store.reads.length = 0;
    const anew = new StreamWriter({ store });
    assert.equal((await anew.load(names, id)).revision, 199);
    assert.equal((await anew.loadAt(names, id, 150)).revision, 150);
    assert.deepEqual(
      store.reads.map(([, from]) => from),
      [0, 100, 200, 0, 100],
    );
  });

  it('forgets what its cache has no room for, and reads it again', async () => {
    const { store } = await begun();
    const handler = new StreamWriter({ store, cacheBytes: 1 });
    await addName(handler, 'a');
    store.reads.length = 0;
    assert.equal(await nameIn(handler), 'names: a');
    assert.deepEqual(store.reads, [[stream, 0]]);
  });

  it('gives a state as it was, and one event', async () => {
    const { handler } = await begun();
    await addName(handler, 'a');
    await addName(handler, 'b');
    assert.equal((await handler.loadAt(names, id, 1)).state, 'names: a');
    assert.deepEqual((await handler.eventAt(names, id, 2)).data, { names: 'names: a b' });
    await assert.rejects(handler.eventAt(names, id, 3), /no event at revision 3/);
  });

  it('stores nothing for a decision without events, one remembered request with an Idempotency-Key', async () => {
    const { store, handler } = await begun();
    const decide = () => E.right({ events: [], tenant: null });
    await handler.write({ entity: names, id, origin, decide });
    assert.equal(store.log.length, 1);
    const idempotency = { key: 'key', body: 'body' };
    const handled = await handler.write({ entity: names, id, origin, decide, idempotency });
    assert.deepEqual(store.types(stream), ['NamesSet', requestAnswered]);
    assert.ok(E.isRight(handled));
    assert.deepEqual([handled.right.stream.revision, handled.right.stream.resourceRevision], [1, 0]);
    assert.notEqual(handled.right.stream.remembered.get('key'), undefined);
  });

  it('takes a refusal for no event', async () => {
    const { store, handler } = await begun();
    const decide = () => E.left({ code: 'flow-in-use', detail: 'It is.' } as const);
    const handled = await handler.write({ entity: names, id, origin, decide, idempotency: { key: 'k', body: 'b' } });
    assert.equal(E.isLeft(handled) && handled.left.code, 'flow-in-use');
    assert.equal(store.log.length, 1);
  });
});
