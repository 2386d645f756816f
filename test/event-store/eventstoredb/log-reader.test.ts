import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { noStream } from '#event-store/event-store.ts';
import {
  type EventStoreDbEventStore,
  openEventStoreDbEventStore,
} from '#event-store/eventstoredb/eventstoredb-event-store.ts';
import { feedTail } from '#event-store/log-feed.ts';
import type { Following, LogTail } from '#event-store/log-tail.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { mustAppend, someEvent, someMetadata } from '#test/contract/event-store.ts';
import {
  EventStoreDbDouble,
  type ServerRelease,
  serverReleases,
} from '#test/support/eventstoredb/eventstoredb-double.ts';
import { tailOf } from '#test/support/log/tail-of.ts';
import { eventually } from '#test/support/run/eventually.ts';
import { itInRounds } from '#test/support/run/long.ts';

const streamPrefix = 'test.';
const log = pino({ level: 'silent' });
/** Far longer than the wait takes, even on a busy machine. */
const catchUpMs = 580_000;

/** A follower of the log in the background. */
class Follower {
  readonly positions: number[] = [];
  caughtUp = 0;
  readonly #abort = new AbortController();
  readonly #following: Following;

  constructor(tail: LogTail, after = 0, onBatch: () => Promise<void> = async () => undefined) {
    this.#following = tail.follow({
      ...{ name: 'The test', after, signal: this.#abort.signal },
      handle: async (batch) => {
        this.positions.push(...batch.events.map(({ position }) => position));
        if (batch.caughtUp) this.caughtUp += 1;
        await onBatch();
      },
      onError: (error) => {
        throw error;
      },
    });
  }

  get position(): number {
    return this.#following.position;
  }

  /** Rejects with what the follower throws. */
  get running(): Promise<void> {
    return this.#following.ended;
  }

  async end(): Promise<void> {
    this.#abort.abort();
    await this.running;
  }
}

for (const manner of serverReleases) describeReader(manner);

function describeReader(manner: ServerRelease): void {
  describe(`EventStoreDB log reader on a server that behaves like ${manner}`, function () {
    this.timeout(60_000);

    let double: EventStoreDbDouble;
    let store: EventStoreDbEventStore;
    let tail: LogTail;
    let followers: Follower[];
    /** The number of the service's events in the log. */
    let filled: number;

    beforeEach(async () => {
      double = await EventStoreDbDouble.start({ manner });
      store = openEventStoreDbEventStore({ url: double.url, streamPrefix, log });
      tail = tailOf(store);
      followers = [];
      filled = 0;
    });

    afterEach(async () => {
      double.thaw();
      await Promise.all(followers.map((follower) => follower.end().catch(() => undefined)));
      await tail.close();
      await store.close();
      await double.kill();
    });

    function follow(after = 0, onBatch?: () => Promise<void>): Follower {
      const follower = new Follower(tail, after, onBatch);
      followers.push(follower);
      return follower;
    }

    /** Puts events of the service into the log, as another node does. */
    function fill(count: number, bytes = 100): void {
      const data = Buffer.from(JSON.stringify({ text: 'x'.repeat(bytes) }));
      const metadata = Buffer.from(JSON.stringify(someMetadata));
      for (let number = 0; number < count; number += 1, filled += 1)
        double.log.append(`${streamPrefix}filled-${filled % 2_000}`, 'any', [
          { id: randomUUID(), type: 'Filled', isJson: true, data, metadata },
        ]);
    }

    const ours = () =>
      double.log.events.filter(({ stream }) => stream.startsWith(streamPrefix)).map(({ position }) => position);

    const hasAll = (follower: Follower) => () => follower.positions.length >= filled;

    it('reads each page once for all followers at the same place', async () => {
      fill(4_000);
      const all = Array.from({ length: 7 }, () => follow());
      for (const follower of all) await eventually(hasAll(follower));
      for (const { positions } of all) assert.deepEqual(positions, ours());
      // Four pages. Each follower also asks for the end.
      assert.ok(double.callsByKind.log <= 5 + all.length, `${double.callsByKind.log} reads`);
    });

    it('opens one subscription for any number of followers, and closes it after the last follower', async () => {
      const all = Array.from({ length: 5 }, () => follow());
      await eventually(() => double.subscriptions === 1 && all.every(({ caughtUp }) => caughtUp === 1));
      await Promise.all(all.map((follower) => follower.end()));
      await eventually(() => double.subscriptions === 0);
    });

    it('neither loses nor repeats an event in bursts that make the server drop a live subscriber', async () => {
      const follower = follow();
      await eventually(() => follower.caughtUp > 0);
      for (let round = 0; round < 10; round += 1) {
        fill(200, 2_000);
        await sleep(5);
      }
      await eventually(hasAll(follower));
      assert.deepEqual(follower.positions, ours());
    });

    it('follows by asking for the end of the log while the server takes no subscription', async () => {
      const follower = follow();
      await eventually(() => follower.caughtUp > 0);
      const dropping = setInterval(() => double.dropSubscribers(), 1);
      try {
        fill(3);
        await eventually(hasAll(follower));
        fill(3);
        await eventually(hasAll(follower));
      } finally {
        clearInterval(dropping);
      }
      assert.deepEqual(follower.positions, ours());
    });

    it('lets a slow follower read separate pages, and delays no other follower', async () => {
      // Several times what a slow follower gets in one page.
      fill(3_000, 1_000);
      let isHeld = true;
      const slow = follow(0, async () => {
        while (isHeld) await sleep(5);
      });
      const quick = follow();
      await eventually(hasAll(quick));
      assert.ok(slow.positions.length <= 1_000);
      isHeld = false;
      await eventually(hasAll(slow));
      assert.deepEqual(slow.positions, ours());
    });

    it('continues for all others when one follower throws', async () => {
      fill(100);
      const throwing = follow(0, () => Promise.reject(new Error('a defect')));
      const failed = assert.rejects(throwing.running, /a defect/);
      const other = follow();
      await eventually(hasAll(other));
      fill(100);
      await eventually(hasAll(other));
      await failed;
    });

    it('gives a follower that joins late the missed events, and then new ones', async () => {
      fill(1_500);
      const first = follow();
      await eventually(hasAll(first));
      fill(1_500);
      const late = follow();
      const later = follow(ours()[2_500]);
      await eventually(hasAll(late));
      await mustAppend(store, 'flow-1', noStream, [someEvent()]);
      filled += 1;
      for (const follower of [first, late]) {
        await eventually(hasAll(follower));
        assert.deepEqual(follower.positions, ours());
      }
      await eventually(() => later.positions.at(-1) === ours().at(-1));
      assert.deepEqual(later.positions, ours().slice(2_501));
    });

    /** A store in another thread, which gets pages of this tail. */
    const openFed = (url: string) =>
      openEventStoreDbEventStore({ url, streamPrefix, log, wake: feedTail(tail, store.changes) });

    it('wakes a reader in another thread', async () => {
      const other = openFed(double.url);
      const follower = new Follower(tailOf(other));
      try {
        await eventually(() => follower.caughtUp > 0);
        await mustAppend(store, 'flow-1', noStream, [someEvent()]);
        filled += 1;
        await eventually(hasAll(follower));
        fill(10);
        await eventually(hasAll(follower));
      } finally {
        await follower.end();
        await other.close();
      }
    });

    it('gives pages to a reader in another thread, so that no page is read twice', async () => {
      const node = await EventStoreDbDouble.start({ manner, log: double.log });
      const other = openFed(node.url);
      const follower = new Follower(tailOf(other));
      try {
        fill(10);
        await eventually(hasAll(follower));
        await eventually(() => follower.caughtUp > 0);
        await eventually(() => double.subscriptions === 1);
        await node.kill();
        for (let round = 0; round < 10; round += 1) {
          fill(round + 1);
          await eventually(hasAll(follower));
        }
        assert.deepEqual(follower.positions, ours());
      } finally {
        await follower.end();
        await other.close();
        await node.kill();
      }
    });

    it('lets a reader in another thread read by itself what it gets while it is busy', async () => {
      let isHeld = false;
      const other = openFed(double.url);
      const follower = new Follower(tailOf(other), 0, async () => {
        while (isHeld) await sleep(5);
      });
      try {
        await eventually(() => follower.caughtUp > 0);
        isHeld = true;
        const here = follow();
        // Twice the pages that may be under way to it.
        for (let round = 0; round < 8; round += 1) {
          fill(200, 2_000);
          await eventually(hasAll(here));
        }
        isHeld = false;
        await eventually(hasAll(follower));
        assert.deepEqual(follower.positions, ours());
      } finally {
        isHeld = false;
        await follower.end();
        await other.close();
      }
    });

    it('stops to give pages when the other thread ends, and ends its waits when this one does', async () => {
      const [ended, left] = [openFed(double.url), openFed(double.url)];
      await ended.close();
      fill(10);
      const here = follow();
      await eventually(hasAll(here));
      await tail.close();
      await assert.rejects(left.changes.waitPast(1e9, AbortSignal.timeout(10_000)), UnavailableError);
      await left.close();
    });

    it('finds the end although the last event is larger than a page', async () => {
      fill(1, 5 * 1024 * 1024);
      for (let asked = 0; asked < 2; asked += 1) assert.equal(await store.lastPosition(), ours().at(-1));
      assert.ok(double.callsByKind.log <= 4, `${double.callsByKind.log} reads`);
    });

    const thousandsBehind = { few: 3, many: 100 };
    itInRounds(
      'catches up from far behind while one event arrives for every five that it reads, a thousand behind in a round',
      thousandsBehind,
      async (thousands) => {
        const before = thousands * 1_000;
        fill(before);
        const live = follow(double.log.events.at(-1)?.position);
        let read = 0;
        const behind = follow(0, async () => {
          const fresh = behind.positions.length - read;
          read = behind.positions.length;
          if (behind.caughtUp === 0) fill(Math.ceil(fresh / 5));
        });
        await eventually(() => behind.caughtUp > 0, undefined, catchUpMs);
        await eventually(hasAll(behind), undefined, catchUpMs);
        assert.ok(filled > before, 'nothing arrived meanwhile');
        assert.deepEqual(behind.positions, ours());
        await eventually(() => live.positions.at(-1) === ours().at(-1), undefined, catchUpMs);
        assert.deepEqual(live.positions, ours().slice(before));
      },
    );
  });
}
