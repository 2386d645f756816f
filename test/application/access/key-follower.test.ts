import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { KeyFollower } from '#application/access/key-follower.ts';
import type { RecordedEvent } from '#event-store/event-store.ts';
import type { LogTail } from '#event-store/log-tail.ts';
import type { Clock } from '#leases/clock.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { InMemoryEventStore } from '#test/support/fakes/in-memory-event-store.ts';
import { tailOf } from '#test/support/log/tail-of.ts';
import { eventually } from '#test/support/run/eventually.ts';

/** A clock that a test moves; every pause lasts one real millisecond. */
class ManualClock implements Clock {
  time = 0;
  now = () => this.time;
  readonly pauses: number[] = [];
  pause = (milliseconds: number, signal: AbortSignal) => {
    this.pauses.push(milliseconds);
    return sleep(1, undefined, { signal }).catch(() => undefined);
  };
  random = () => 0;
}

const revoked = (id: string) => ({ stream: `apiKey-${id}`, type: 'ApiKeyRevoked', data: { id } });
const other = { stream: 'flow-one', type: 'FlowCreated', data: {} };

describe('KeyFollower', () => {
  let store: InMemoryEventStore;
  let tail: LogTail;
  let clock: ManualClock;
  let follower: KeyFollower;
  let seen: string[];

  function follow(beginAfter: () => number | null = () => 0): void {
    follower = new KeyFollower({ tail, store, beginAfter, clock });
    follower.listen((events: ReadonlyArray<RecordedEvent>) => seen.push(...events.map(({ data }) => String(data.id))));
    follower.start();
  }

  beforeEach(() => {
    store = new InMemoryEventStore();
    tail = tailOf(store);
    clock = new ManualClock();
    seen = [];
  });

  afterEach(async () => {
    await follower.stop();
    await tail.close();
  });

  it('passes on key events and no other events', async () => {
    store.append(revoked('a'), other, revoked('b'));
    follow();
    await eventually(() => seen.length === 2, 'it has seen both');
    store.append(other, revoked('c'));
    await eventually(() => seen.length === 3, 'it has seen the third');
    assert.deepEqual(seen, ['a', 'b', 'c']);
  });

  it('knows when it last saw the end of the log while it follows', async () => {
    store.append(revoked('a'), other);
    follow();
    await eventually(() => follower.seenEndAt === 0, 'it has caught up');
    clock.time = 5_000;
    await eventually(() => follower.seenEndAt === 5_000, 'it has asked again');
  });

  it('reads the end less often while no key is checked', async () => {
    follow();
    await eventually(() => follower.seenEndAt === 0, 'it has caught up');
    assert.ok(clock.pauses.every((pause) => pause === 200));
    clock.time = 6_000;
    await eventually(() => clock.pauses.at(-1) === 2_000, 'it is idle');
    assert.equal(await follower.seeEnd(60_000_000), true);
    assert.equal(follower.seenEndAt, 6_000);
    await eventually(() => clock.pauses.at(-1) === 200, 'it is in use');
  });

  it('has not seen the end of the log while stored events have not been passed on', async () => {
    store.append(revoked('a'));
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const readPage = store.readPage.bind(store);
    store.readPage = async (request) => {
      await held;
      return readPage(request);
    };
    follow();
    clock.time = 3_000;
    await sleep(30);
    assert.equal(follower.seenEndAt, Number.NEGATIVE_INFINITY);
    release();
    await eventually(() => follower.seenEndAt === 3_000, 'it has caught up');
  });

  it('waits until everything stored before has been passed on', async () => {
    follow();
    for (const id of ['a', 'b', 'c']) {
      clock.time += 1;
      store.append(revoked(id));
      clock.time += 1;
      assert.equal(await follower.seeEnd(60_000_000), true);
      assert.equal(seen.at(-1), id);
    }
  });

  it('detects that the store is away, and does not wait for it', async () => {
    follow();
    await eventually(() => follower.seenEndAt === 0, 'it has caught up');
    let answer: (() => void) | undefined;
    store.lastPosition = () =>
      new Promise((_, reject) => {
        answer = () => reject(new UnavailableError('away'));
      });
    await eventually(() => answer !== undefined, 'it asks again');
    assert.equal(follower.isStoreAway, false);
    clock.time += 1_001;
    assert.equal(follower.isStoreAway, true);
    assert.equal(await follower.seeEnd(60_000), false);
    answer?.();
    store.lastPosition = () => Promise.reject(new UnavailableError('away'));
    await sleep(20);
    assert.equal(follower.isStoreAway, true);
    store.lastPosition = InMemoryEventStore.prototype.lastPosition;
    await eventually(() => !follower.isStoreAway, 'the store is back');
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
    await eventually(() => seen.length === 1, 'it has seen the first');
    store.append(revoked('b'));
    await eventually(() => seen.length === 2, 'it has seen both');
    assert.deepEqual(seen, ['a', 'b']);
  });

  it('begins after the given position once it is known, and at the start of a log that ends before it', async () => {
    store.append(revoked('a'), revoked('b'));
    let after: number | null = null;
    follow(() => after);
    await sleep(20);
    assert.deepEqual(store.pages.requests, []);
    after = 3;
    await eventually(() => seen.length === 1, 'it has seen the second');
    assert.deepEqual(seen, ['b']);
    await follower.stop();
    seen = [];
    follow(() => 1_000);
    await eventually(() => seen.length === 2, 'it has seen both');
  });
});
