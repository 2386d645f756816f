import assert from 'node:assert/strict';
import { PendingResources } from '#application/operations/read-your-writes.ts';
import { Admission } from '#exchange/admission.ts';
import { Positions } from '#positions/positions.ts';
import { replaceClock } from '#shared/clock.ts';
import { callerOf, ids, tenants } from '#test/support/events/tenants.ts';

const tenant = tenants.project;
const admin = callerOf('admin');
const none = new Map<string, ReadonlyArray<number>>();

describe('PendingResources', () => {
  let positions: Positions;
  let pending: PendingResources;
  /** The read model that the reads of these tests see. */
  let shown: Set<string>;
  let reads: number;

  beforeEach(() => {
    positions = new Positions(new Admission());
    positions.declare('projection', [
      { name: 'flows', types: ['A'] },
      { name: 'audit', types: ['A'] },
      { name: 'numbers', types: ['B'] },
    ]);
    pending = new PendingResources(positions, { maxIds: 3, timeoutMs: 60_000 });
    shown = new Set();
    reads = 0;
    models(0);
  });
  afterEach(() => positions.close());

  const models = (flows: number, audit = flows, live = true, numbers = Math.min(flows, audit)) =>
    positions.update(
      'projection',
      new Map([
        ['flows', { position: flows, live }],
        ['audit', { position: audit, live: true }],
        ['numbers', { position: numbers, live: true }],
      ]),
    );
  const read = (id: string, caller = admin, from = pending) =>
    from.beginReads([id], caller).read(
      ['flows'],
      async () => {
        reads += 1;
        return shown.has(id);
      },
      (isShown) => !isShown,
    );
  const add = (id: string, position: number, to = pending, reactions = none) =>
    to.add({ ids: [id], tenant, types: ['A'], position, reactions });

  it('reads once, and waits for nothing, when the id is not pending', async () => {
    add('one', 5);
    for (let index = 0; index < 1_000; index += 1) {
      assert.deepEqual(await read(`random${index}`), { result: false, isLate: false });
    }
    assert.equal(reads, 1_000);
  });

  it('holds a read of a pending id until the read model shows it', async () => {
    add('one', 5);
    const result = read('one');
    await new Promise((resolve) => setImmediate(resolve));
    shown.add('one');
    models(5, 0);
    assert.deepEqual(await result, { result: true, isLate: false });
    assert.equal(reads, 2);
  });

  it('answers late after a time limit', async () => {
    const short = new PendingResources(positions, { timeoutMs: 20 });
    add('one', 5, short);
    assert.deepEqual(await read('one', admin, short), { result: false, isLate: true });
  });

  it('answers late immediately when the read model has stopped or is being filled', async () => {
    add('one', 5);
    models(3, 3, false);
    assert.deepEqual(await read('one'), { result: false, isLate: true });
  });

  it('reads a resource that was deleted meanwhile as missing', async () => {
    add('one', 5);
    const result = read('one');
    models(5, 0);
    assert.deepEqual(await result, { result: false, isLate: false });
  });

  it('does not hold a read of a caller who cannot access the resource', async () => {
    add('one', 5);
    assert.deepEqual(await read('one', callerOf('project', { projectId: ids.sibling })), {
      result: false,
      isLate: false,
    });
  });

  it('waits for the process that makes a resource', async () => {
    positions.update('process', new Map([['maker', { position: 4, live: true }]]));
    add('made', 5, pending, new Map([['maker', [5]]]));
    const result = read('made');
    models(5);
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(pending.size, 1);
    positions.recordEffect('maker', 5, 7);
    positions.update('process', new Map([['maker', { position: 7, live: true }]]));
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(pending.size, 1);
    shown.add('made');
    models(7);
    assert.deepEqual(await result, { result: true, isLate: false });
    assert.equal(pending.size, 0);
  });

  it('forgets ids when the read models of their events show them, also when another one has stopped', () => {
    add('one', 5);
    add('two', 6);
    models(5, 5, true, 0);
    assert.equal(pending.size, 1);
    models(6, 6, true, 0);
    assert.equal(pending.size, 0);
  });

  it('forgets ids behind those whose read model has stopped', () => {
    pending.add({ ids: ['other'], tenant, types: ['B'], position: 4, reactions: none });
    add('one', 5);
    models(5, 5, true, 0);
    assert.equal(pending.size, 1);
    models(5);
    assert.equal(pending.size, 0);
  });

  it('keeps ids whose effects a read model that has stopped does not show', () => {
    positions.update('process', new Map([['maker', { position: 9, live: true }]]));
    add('one', 5, pending, new Map([['maker', [5]]]));
    positions.recordEffect('maker', 5, 7);
    models(7, 7, true, 6);
    assert.equal(pending.size, 1);
    models(7);
    assert.equal(pending.size, 0);
  });

  it('forgets ids when all read models show them', () => {
    add('one', 5);
    add('two', 6);
    models(5, 4);
    assert.equal(pending.size, 2);
    models(5);
    assert.equal(pending.size, 1);
    models(6);
    assert.equal(pending.size, 0);
  });

  it('forgets ids whose process has stopped when all read models are past their events', () => {
    positions.update('process', new Map([['maker', { position: 4, live: false }]]));
    add('one', 5, pending, new Map([['maker', [5]]]));
    models(4);
    assert.equal(pending.size, 1);
    models(5);
    assert.equal(pending.size, 0);
  });

  it('lets all reads of one request wait for one time limit together', async () => {
    const short = new PendingResources(positions, { timeoutMs: 300 });
    add('one', 5, short);
    const request = short.beginReads(['one'], admin);
    const ask = () =>
      request.read(
        ['flows'],
        async () => 0,
        () => true,
      );
    const begun = performance.now();
    assert.equal((await ask()).isLate, true);
    for (let read = 0; read < 20; read += 1) assert.equal((await ask()).isLate, true);
    assert.ok(performance.now() - begun < 10 * 300);
  });

  it('begins the time limit of a request with its first wait, not with a read that takes long', async () => {
    let now = 0;
    const restoreClock = replaceClock({ now: () => now });
    try {
      add('one', 5);
      const request = pending.beginReads(['one'], admin);
      const result = request.read(
        ['flows'],
        async () => {
          now += 120_000;
          return shown.has('one');
        },
        (isShown) => !isShown,
      );
      await new Promise((resolve) => setImmediate(resolve));
      shown.add('one');
      models(5);
      assert.deepEqual(await result, { result: true, isLate: false });
    } finally {
      restoreClock();
    }
  });

  it('forgets the oldest ids when there are too many', async () => {
    for (const [index, id] of ['one', 'two', 'three', 'four'].entries()) add(id, 5 + index);
    assert.equal(pending.size, 3);
    assert.deepEqual(await read('one'), { result: false, isLate: false });
    models(9, 9, false);
    assert.equal(pending.size, 0);
  });

  it('forgets ids of the project that has most, not those of others', async () => {
    pending.add({ ids: ['other'], tenant: tenants.stranger, types: ['A'], position: 4, reactions: none });
    for (const [index, id] of ['one', 'two', 'three', 'four'].entries()) add(id, 5 + index);
    const known = async (id: string) => {
      const result = read(id);
      await new Promise((resolve) => setImmediate(resolve));
      const isHeld = (await Promise.race([result, null])) === null;
      return isHeld ? id : null;
    };
    assert.deepEqual(await Promise.all(['other', 'one', 'two', 'three', 'four'].map(known)), [
      'other',
      null,
      null,
      'three',
      'four',
    ]);
    models(9);
    assert.equal(pending.size, 0);
  });

  it('remembers nothing of a stream without a tenant', () => {
    pending.add({ ids: ['one'], tenant: null, types: ['A'], position: 5, reactions: none });
    assert.equal(pending.size, 0);
  });
});
