import assert from 'node:assert/strict';
import * as E from 'fp-ts/lib/Either.js';
import { StreamWriter } from '#application/streams/stream-writer.ts';
import type { AppendFailure } from '#event-store/event-store.ts';
import { verifyChain } from '#event-store/hash-chain.ts';
import { names, namesSet, origin } from '#test/support/events/names.ts';
import { ids, tenants } from '#test/support/events/tenants.ts';
import { AppendableEventStore } from '#test/support/fakes/appendable-event-store.ts';

const id = ids.flow;
const stream = `names-${id}`;

/** Appends one more name; the result shows the state that was decided on. */
const addName = (writer: StreamWriter, name: string) =>
  writer.write({
    entity: names,
    id,
    origin,
    decide: ({ state }) => E.right({ events: [namesSet(`${state} ${name}`)], tenant: null }),
  });

async function startWriter(options: { deadlineMs?: number; now?: () => Date; soleWriter?: boolean } = {}) {
  const store = new AppendableEventStore();
  const writer = new StreamWriter({ store, ...options });
  const decide = () => E.right({ events: [namesSet('names:')], tenant: tenants.project });
  assert.ok(E.isRight(await writer.write({ entity: names, id, origin, decide })));
  return { store, writer };
}

const nameIn = async (writer: StreamWriter) => (await writer.load(names, id)).state;

describe('StreamWriter', () => {
  it('returns the state after the new events, and the events as stored', async () => {
    const { store, writer } = await startWriter();
    const handled = await addName(writer, 'a');
    assert.ok(E.isRight(handled));
    assert.equal(handled.right.stream.state, 'names: a');
    assert.equal(handled.right.stream.revision, 1);
    assert.deepEqual(handled.right.events, store.streamOf(stream).slice(1));
  });

  it('takes over what other nodes write to other streams, although one event cannot be folded', async () => {
    const { store, writer } = await startWriter();
    const other = new StreamWriter({ store });
    await addName(other, 'a');
    const [, second] = store.streamOf(stream);
    assert.ok(second !== undefined);
    const brokenStream = 'names-cbroken000000001';
    const decide = () => E.right({ events: [namesSet('whole')], tenant: tenants.project });
    assert.ok(E.isRight(await writer.write({ entity: names, id: 'cbroken000000001', origin, decide })));
    const broken = { ...second, stream: brokenStream, revision: 1, data: null as never };
    writer.observe([broken, second]);
    assert.equal((await writer.loadCached(names, id)).state, 'names: a');
    assert.equal((await writer.loadCached(names, 'cbroken000000001')).state, 'whole', 'it is read again');
  });

  it('writes actor, cause and tenant into every event, and a valid hash chain', async () => {
    const { store, writer } = await startWriter();
    await addName(writer, 'a');
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

  it('never writes an earlier time than the last event of the stream', async () => {
    const clock = ['2026-01-05T10:00:00.000Z', '2026-01-05T09:00:00.000Z', '2026-01-05T11:00:00.000Z'];
    const { store, writer } = await startWriter({ now: () => new Date(clock.shift() ?? 0) });
    await addName(writer, 'a');
    await addName(writer, 'b');
    assert.deepEqual(
      store.log.map(({ metadata }) => metadata.time),
      ['2026-01-05T10:00:00.000Z', '2026-01-05T10:00:00.000Z', '2026-01-05T11:00:00.000Z'],
    );
  });

  it('decides again on the new state after a conflict', async () => {
    const { store, writer } = await startWriter();
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
    assert.ok(E.isRight(await addName(writer, 'mine')));
    assert.equal(await nameIn(writer), 'names: other2 other1 other0 mine');
    assert.equal(verifyChain(store.raw), null);
  });

  it('gives up repeated conflicts at its deadline', async () => {
    const { store, writer } = await startWriter({ deadlineMs: 60 });
    store.beforeAppend = async () => ({ kind: 'conflict', actualRevision: 7 });
    const handled = await addName(writer, 'mine');
    assert.equal(E.isLeft(handled) && handled.left.code, 'too-many-conflicts');
    assert.equal(store.log.length, 1);
  });

  it('returns a failure that says why the store refused an append', async () => {
    const { store, writer } = await startWriter();
    store.beforeAppend = async () => ({ kind: 'unavailable', detail: 'it is closing', retryAfterSeconds: 3 });
    const unavailable = await addName(writer, 'a');
    assert.ok(E.isLeft(unavailable));
    assert.deepEqual([unavailable.left.code, unavailable.left.retryAfterSeconds], ['unavailable', 3]);
    store.beforeAppend = async () => ({ kind: 'append-too-large', bytes: 11, maxBytes: 10 });
    const large = await addName(writer, 'a');
    assert.equal(E.isLeft(large) && large.left.code, 'append-too-large');
  });

  it('lets 64 commands on one stream all succeed in order', async () => {
    const { store, writer } = await startWriter();
    const numbers = Array.from({ length: 64 }, (_, number) => String(number));
    const handled = await Promise.all(numbers.map((number) => addName(writer, number)));
    assert.ok(handled.every(E.isRight));
    assert.equal(await nameIn(writer), `names: ${numbers.join(' ')}`);
    assert.equal(store.streamOf(stream).length, 65);
  });

  it('lets 64 commands of two processes on one stream all succeed', async () => {
    const { store, writer } = await startWriter();
    const handlers = [writer, new StreamWriter({ store })];
    const numbers = Array.from({ length: 64 }, (_, number) => String(number));
    const handled = await Promise.all(numbers.map((number, index) => addName(handlers[index % 2] ?? writer, number)));
    assert.ok(handled.every(E.isRight));
    const names = (await nameIn(writer)).split(' ').slice(1) ?? [];
    assert.deepEqual(names.toSorted(), numbers.toSorted());
    assert.deepEqual(
      store.streamOf(stream).map(({ revision }) => revision),
      Array.from({ length: 65 }, (_, revision) => revision),
    );
    assert.equal(verifyChain(store.raw), null);
  });

  it('reads only events newer than its cached state', async () => {
    const { store, writer } = await startWriter();
    await addName(writer, 'a');
    await addName(new StreamWriter({ store }), 'b');
    store.reads.length = 0;
    assert.equal(await nameIn(writer), 'names: a b');
    assert.deepEqual(store.reads, [[stream, 2]]);
  });

  it('reads nothing again when it is the sole writer', async () => {
    const { store, writer } = await startWriter({ soleWriter: true });
    store.reads.length = 0;
    await addName(writer, 'a');
    assert.equal(await nameIn(writer), 'names: a');
    assert.deepEqual(store.reads, []);
  });

  it('reads up to a required revision although its own append is not answered yet', async () => {
    const { store, writer } = await startWriter({ soleWriter: true });
    const answer = Promise.withResolvers<void>();
    const append = store.append.bind(store);
    store.append = async (...args) => {
      const appended = await append(...args);
      await answer.promise;
      return appended;
    };
    const adding = addName(writer, 'a');
    while (store.log.length < 2) await new Promise((resolve) => setImmediate(resolve));
    assert.equal(await nameIn(writer), 'names:');
    assert.equal((await writer.load(names, id, 1)).state, 'names: a');
    answer.resolve();
    assert.ok(E.isRight(await adding));
    assert.equal(store.log.length, 2);
  });

  it('reads again after an append with an unknown outcome, sole writer or not', async () => {
    const { store, writer } = await startWriter({ soleWriter: true });
    store.beforeAppend = async () => ({
      kind: 'unavailable',
      detail: 'the disk does not answer.',
      retryAfterSeconds: 1,
    });
    assert.ok(E.isLeft(await addName(writer, 'lost')));
    assert.equal(await nameIn(writer), 'names:');
    store.beforeAppend = async () => null;
    await addName(new StreamWriter({ store }), 'late');
    assert.equal(await nameIn(writer), 'names: late');
  });

  it('reads a long stream in pages, for its current and for an earlier state', async () => {
    const { store, writer } = await startWriter();
    for (let number = 0; number < 199; number += 1) await addName(writer, '.');
    store.reads.length = 0;
    const fresh = new StreamWriter({ store });
    assert.equal((await fresh.load(names, id)).revision, 199);
    assert.equal((await fresh.loadAt(names, id, 150)).revision, 150);
    assert.deepEqual(
      store.reads.map(([, from]) => from),
      [0, 100, 200, 0, 100],
    );
  });

  it('evicts states beyond its cache size, and reads them again', async () => {
    const { store } = await startWriter();
    const writer = new StreamWriter({ store, cacheBytes: 1 });
    await addName(writer, 'a');
    store.reads.length = 0;
    assert.equal(await nameIn(writer), 'names: a');
    assert.deepEqual(store.reads, [[stream, 0]]);
  });

  it('gives the state at an earlier revision, and a single event', async () => {
    const { writer } = await startWriter();
    await addName(writer, 'a');
    await addName(writer, 'b');
    assert.equal((await writer.loadAt(names, id, 1)).state, 'names: a');
    assert.deepEqual((await writer.eventAt(names, id, 2)).data, { names: 'names: a b' });
    await assert.rejects(writer.eventAt(names, id, 3), /no event at revision 3/);
  });

  it('stores nothing for a decision without events', async () => {
    const { store, writer } = await startWriter();
    const decide = () => E.right({ events: [], tenant: null });
    await writer.write({ entity: names, id, origin, decide });
    assert.equal(store.log.length, 1);
  });

  it('stores nothing for a refusal', async () => {
    const { store, writer } = await startWriter();
    const decide = () => E.left({ code: 'flow-in-use', detail: 'It is.' } as const);
    const handled = await writer.write({ entity: names, id, origin, decide });
    assert.equal(E.isLeft(handled) && handled.left.code, 'flow-in-use');
    assert.equal(store.log.length, 1);
  });
});

for (const soleWriter of [true, false])
  describe(`pipelined turns on a store with ${soleWriter ? 'one writer' : 'other writers'}`, () => {
    /** Adds a name in a turn that ends when its append is accepted. @returns the state that it is decided on, and its outcome */
    const accept = async (writer: StreamWriter, name: string) => {
      const turn = await writer.beginTurn(names, id, 'pipelined');
      const before = await turn.load();
      const events = [namesSet(`${before.state} ${name}`)];
      const { outcome } = await turn.append(before, { events, tenant: null, origin });
      turn.end();
      return { before: before.state, outcome };
    };

    /** Holds the appends of a store until they are let go, in their order. */
    const gate = (store: AppendableEventStore) => {
      const waiting: Array<(failure: AppendFailure | null) => void> = [];
      store.beforeAppend = () => new Promise((resolve) => waiting.push(resolve));
      return {
        waiting,
        next: (failure: AppendFailure | null = null) => {
          const go = waiting.shift() ?? assert.fail('no append waits');
          go(failure);
        },
      };
    };

    it('decide each command on the state that the appends under way will leave', async () => {
      const { store, writer } = await startWriter({ soleWriter });
      const gated = gate(store);
      const [first, second, third] = [await accept(writer, 'a'), await accept(writer, 'b'), await accept(writer, 'c')];
      assert.deepEqual([first.before, second.before, third.before], ['names:', 'names: a', 'names: a b']);
      assert.equal(await nameIn(writer), 'names:', 'nothing is durable yet');
      for (let left = 3; left > 0; left -= 1) gated.next();
      for (const { outcome } of [first, second, third]) assert.equal((await outcome).kind, 'stored');
      assert.equal(await nameIn(writer), 'names: a b c');
      assert.equal(verifyChain(store.raw), null);
    });

    it('conflict with everything that was decided on an append that failed, and decide the next one on what is stored', async () => {
      const { store, writer } = await startWriter({ soleWriter });
      const gated = gate(store);
      const [first, second] = [await accept(writer, 'a'), await accept(writer, 'b')];
      gated.next({ kind: 'unavailable', detail: 'the disk is full', retryAfterSeconds: 1 });
      assert.equal((await first.outcome).kind, 'refused');
      const third = await accept(writer, 'c');
      assert.equal(third.before, 'names:');
      gated.next();
      gated.next();
      assert.equal((await second.outcome).kind, 'conflict');
      assert.equal((await third.outcome).kind, 'stored');
      assert.equal(await nameIn(writer), 'names: c');
      assert.equal(verifyChain(store.raw), null);
    });

    it('conflict if another write has got the revision of the append that they were decided on', async () => {
      const { store, writer } = await startWriter({ soleWriter });
      const gated = gate(store);
      const [first, second] = [await accept(writer, 'a'), await accept(writer, 'b')];
      gated.next({ kind: 'unavailable', detail: 'it is lost', retryAfterSeconds: 1 });
      await first.outcome;
      const bypassing = writer.write({
        entity: names,
        id,
        origin,
        mode: 'bypass',
        decide: ({ state }) => E.right({ events: [namesSet(`${state} z`)], tenant: null }),
      });
      while (gated.waiting.length < 2) await new Promise((resolve) => setImmediate(resolve));
      // The bypassing append is stored first, at the revision of the lost one.
      gated.waiting.reverse();
      gated.next();
      assert.ok(E.isRight(await bypassing));
      gated.next();
      assert.equal((await second.outcome).kind, 'conflict');
      assert.equal(await nameIn(writer), 'names: z');
    });

    it('know whether a state that they appended nothing to has become durable', async () => {
      const { store, writer } = await startWriter({ soleWriter });
      const gated = gate(store);
      for (const failure of [null, { kind: 'unavailable', detail: 'lost', retryAfterSeconds: 1 } as const]) {
        const first = await accept(writer, 'a');
        const turn = await writer.beginTurn(names, id, 'pipelined');
        const seen = await turn.load();
        turn.end();
        const isCurrent = turn.isCurrent(seen);
        gated.next(failure);
        await first.outcome;
        assert.equal(await isCurrent, failure === null);
      }
    });

    it('let a turn alone begin only when everything before it is durable', async () => {
      const { store, writer } = await startWriter({ soleWriter });
      const gated = gate(store);
      const first = await accept(writer, 'a');
      let hasBegun = false;
      const alone = addName(writer, 'b').finally(() => {
        hasBegun = true;
      });
      await new Promise((resolve) => setImmediate(resolve));
      assert.equal(gated.waiting.length, 1);
      gated.next();
      await first.outcome;
      while (gated.waiting.length < 1) await new Promise((resolve) => setImmediate(resolve));
      assert.equal(hasBegun, false);
      gated.next();
      assert.ok(E.isRight(await alone));
      assert.equal(await nameIn(writer), 'names: a b');
    });

    it('wait while too many appends are under way, at most until their deadline', async () => {
      const { store, writer } = await startWriter({ soleWriter, deadlineMs: 100 });
      gate(store);
      for (let number = 0; number < 512; number += 1) await accept(writer, '.');
      await assert.rejects(accept(writer, 'x'), /too many waiting writes/);
    });
  });
