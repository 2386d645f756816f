import assert from 'node:assert/strict';
import type { EventBatch, SubscribeOptions } from '#event-store/event-store.ts';
import { type FollowLogOptions, followLog } from '#event-store/follow-log.ts';

const batch = (position: number): EventBatch => ({ events: [], position, caughtUp: true });

describe('followLog', () => {
  /** Follows a store whose subscriptions give these batches one after the other, or fail. The last one ends it. */
  const follow = async (
    subscriptions: ReadonlyArray<ReadonlyArray<EventBatch | Error>>,
    options: Partial<FollowLogOptions> = {},
  ) => {
    const ending = new AbortController();
    const [asked, handled, failures, pauses]: [SubscribeOptions[], number[], string[], number[]] = [[], [], [], []];
    async function* subscribe(asks: SubscribeOptions) {
      asked.push(asks);
      for (const next of subscriptions[asked.length - 1] ?? []) {
        if (next instanceof Error) throw next;
        yield next;
      }
      if (asked.length === subscriptions.length) ending.abort();
    }
    await followLog({
      store: { subscribe },
      types: ['Made'],
      after: () => handled.at(-1) ?? 7,
      handle: ({ position }) => void handled.push(position),
      onFailure: (error) => failures.push(String(error)),
      retryLimits: { firstMs: 100, maxMs: 300 },
      clock: { pause: async (milliseconds) => void pauses.push(milliseconds), random: () => 0 },
      signal: ending.signal,
      ...options,
    });
    return { asked: asked.map(({ after }) => after), types: asked[0]?.types, handled, failures, pauses };
  };

  it('continues after the last handled batch when the store fails or ends a subscription', async () => {
    const followed = await follow([[batch(8), batch(9), new Error('lost')], [], [batch(12)]]);
    assert.deepEqual(followed.asked, [7, 9, 9]);
    assert.deepEqual(followed.types, ['Made']);
    assert.deepEqual(followed.handled, [8, 9, 12]);
    assert.deepEqual(followed.failures, ['Error: lost']);
  });

  it('waits longer after each failure in a row, up to the limit', async () => {
    const lost = new Error('lost');
    const { pauses } = await follow([[lost], [lost], [lost], [lost], [batch(8), lost], []]);
    assert.deepEqual(pauses.slice(0, 5), [50, 100, 150, 150, 50]);
  });

  it('repeats a batch that its handler could not handle, also when the position cannot be found at first', async () => {
    let attempts = 0;
    const failOnce = () => {
      attempts += 1;
      if (attempts === 1) throw new Error('no position');
      return 3;
    };
    const { failures, asked } = await follow([[batch(4)], [batch(4)]], {
      after: failOnce,
      handle: () => assert.ok(attempts > 2, 'not handled'),
    });
    assert.deepEqual(asked, [3, 3]);
    assert.match(failures.join(), /no position.*not handled/);
  });

  it('ends without a position, and with what the report of a failure throws', async () => {
    assert.deepEqual((await follow([], { after: () => null })).asked, []);
    const onFailure = (error: unknown) => {
      throw error;
    };
    await assert.rejects(follow([[new Error('fatal')], []], { onFailure }), /fatal/);
  });
});
