import assert from 'node:assert/strict';
import { KeyFollower } from '#application/access/key-follower.ts';
import type { RecordedEvent } from '#event-store/event-store.ts';
import type { LogTail } from '#event-store/log-tail.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { InMemoryEventStore } from '#test/support/fakes/in-memory-event-store.ts';
import { tailOf } from '#test/support/log/tail-of.ts';
import { Random } from '#test/worlds/random.ts';
import { SimulatedTime } from '#test/worlds/simulated-time.ts';

const revoked = (id: string) => ({ stream: `apiKey-${id}`, type: 'ApiKeyRevoked', data: { id } });
const other = { stream: 'flow-one', type: 'FlowCreated', data: {} };

describe('KeyFollower', () => {
  let time: SimulatedTime;
  let store: InMemoryEventStore;
  let tail: LogTail;
  let follower: KeyFollower;
  let seen: string[];

  function follow(beginAfter: () => number | null = () => 0): void {
    follower = new KeyFollower({ tail, store, beginAfter });
    follower.listen((events: ReadonlyArray<RecordedEvent>) => seen.push(...events.map(({ data }) => String(data.id))));
    follower.start();
  }

  /** Lets time pass until the follower has seen the end of the log, or has not. */
  async function seesEnd(limitMs = 1_000): Promise<boolean> {
    let hasSeen: boolean | null = null;
    void follower.seeEnd(limitMs).then((outcome) => {
      hasSeen = outcome;
    });
    assert.ok(await time.passUntil(() => hasSeen !== null, limitMs), 'a wait has a limit');
    return hasSeen ?? false;
  }

  beforeEach(() => {
    time = new SimulatedTime(new Random(1)).install();
    store = new InMemoryEventStore();
    tail = tailOf(store);
    seen = [];
  });

  afterEach(async () => {
    const ended = follower.stop().then(() => tail.close());
    await time.pass(10_000);
    await ended;
    time[Symbol.dispose]();
  });

  it('passes on key events and no other events', async () => {
    store.append(revoked('a'), other, revoked('b'));
    follow();
    await time.pass(10);
    assert.deepEqual(seen, ['a', 'b']);
    store.append(other, revoked('c'));
    await time.pass(10);
    assert.deepEqual(seen, ['a', 'b', 'c']);
  });

  it('knows when it last saw the end of the log while it follows', async () => {
    store.append(revoked('a'), other);
    follow();
    await time.pass(10);
    assert.equal(follower.seenEndAt, 0);
    await time.pass(995);
    assert.equal(follower.seenEndAt, 1_000);
  });

  it('reads the end less often while no key is checked', async () => {
    let reads = 0;
    store.lastPosition = async () => {
      reads += 1;
      return 0;
    };
    follow();
    await time.pass(10);
    reads = 0;
    await time.pass(4_000);
    assert.equal(reads, 20);
    await time.pass(2_000);
    reads = 0;
    await time.pass(20_000);
    assert.equal(reads, 10);
    assert.equal(await seesEnd(), true);
    assert.equal(follower.seenEndAt, time.now);
    reads = 0;
    await time.pass(1_000);
    assert.equal(reads, 5);
  });

  it('has not seen the end of the log while stored events have not been passed on', async () => {
    store.append(revoked('a'));
    const readPage = store.readPage.bind(store);
    store.readPage = async (request) => {
      await time.wait(3_000);
      return readPage(request);
    };
    follow();
    await time.pass(2_900);
    assert.equal(follower.seenEndAt, Number.NEGATIVE_INFINITY);
    await time.pass(1_000);
    assert.ok(follower.seenEndAt >= 0);
  });

  it('waits until everything stored before has been passed on', async () => {
    follow();
    for (const id of ['a', 'b', 'c']) {
      store.append(revoked(id));
      assert.equal(await seesEnd(), true);
      assert.equal(seen.at(-1), id);
    }
  });

  it('counts no read of the end that began before the wait, even in the same millisecond', async () => {
    follow();
    await time.pass(1_000);
    const lastPosition = store.lastPosition.bind(store);
    store.lastPosition = async () => {
      const position = await lastPosition();
      await time.wait(100);
      return position;
    };
    void follower.seeEnd(1_000);
    await time.pass(0);
    store.append(revoked('a'));
    const startedAt = time.now;
    assert.equal(await seesEnd(), true);
    assert.equal(time.now - startedAt, 200);
  });

  it('shares one read of the end among all who wait', async () => {
    let reads = 0;
    store.lastPosition = async () => {
      reads += 1;
      await time.wait(50);
      return 0;
    };
    follow();
    await time.pass(210);
    reads = 0;
    const waits = Promise.all(Array.from({ length: 1_000 }, () => follower.seeEnd(1_000)));
    await time.pass(100);
    assert.deepEqual(new Set(await waits), new Set([true]));
    assert.ok(reads <= 2, String(reads));
  });

  it('detects that the store is away, and does not wait for it', async () => {
    follow();
    await time.pass(10);
    store.lastPosition = () => time.wait(1_500).then(() => Promise.reject(new UnavailableError('away')));
    await time.pass(250);
    assert.equal(follower.isStoreAway, false);
    await time.pass(1_000);
    assert.equal(follower.isStoreAway, true);
    const askedAt = time.now;
    assert.equal(await seesEnd(), false);
    assert.equal(time.now, askedAt);
    store.lastPosition = () => Promise.reject(new UnavailableError('away'));
    await time.pass(2_000);
    assert.equal(follower.isStoreAway, true);
    store.lastPosition = InMemoryEventStore.prototype.lastPosition;
    await time.pass(2_000);
    assert.equal(follower.isStoreAway, false);
  });

  it('stops while the store does not answer, before and after it has begun', async () => {
    for (const hasBegun of [false, true]) {
      follow();
      if (hasBegun) await time.pass(10);
      store.lastPosition = () => new Promise(() => undefined);
      await time.pass(250);
      let isStopped = false;
      void follower.stop().then(() => {
        isStopped = true;
      });
      await time.pass(10);
      assert.ok(isStopped, `hasBegun: ${hasBegun}`);
      store.lastPosition = InMemoryEventStore.prototype.lastPosition;
    }
  });

  it('continues after the last seen event when reads of the log fail', async () => {
    store.append(revoked('a'));
    const readPage = store.readPage.bind(store);
    let failures = 0;
    store.readPage = async (request) => {
      if (request.after < 3 || failures === 2) return readPage(request);
      failures += 1;
      throw new UnavailableError('the read broke');
    };
    follow();
    await time.pass(10);
    assert.deepEqual(seen, ['a']);
    store.append(revoked('b'));
    await time.pass(1_000);
    assert.deepEqual(seen, ['a', 'b']);
  });

  it('begins after the given position once it is known, and at the start of a log that ends before it', async () => {
    store.append(revoked('a'), revoked('b'));
    let after: number | null = null;
    follow(() => after);
    await time.pass(1_000);
    assert.deepEqual([store.pages.requests.length, follower.hasBegun], [0, false]);
    assert.equal(await seesEnd(), false);
    after = 3;
    await time.pass(1_000);
    assert.deepEqual([seen, follower.hasBegun], [['b'], true]);
    const stopped = follower.stop();
    await time.pass(10);
    await stopped;
    seen = [];
    follow(() => 1_000);
    await time.pass(10);
    assert.deepEqual(seen, ['a', 'b']);
  });

  it('begins at one position, also when its first read of the log fails', async () => {
    store.append(revoked('a'), revoked('b'));
    const readPage = store.readPage.bind(store);
    store.readPage = () => Promise.reject(new Error('the read broke'));
    let after = 3;
    follow(() => after);
    await time.pass(100);
    after = 6;
    store.readPage = readPage;
    await time.pass(1_000);
    assert.deepEqual(seen, ['b']);
  });
});
