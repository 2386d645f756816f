import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import * as E from 'fp-ts/lib/Either.js';
import type { AppendFailure, AppendResult } from '#event-store/event-store.ts';
import { type Append, AppendLines } from '#event-store/eventstoredb/append-lines.ts';

type Outcome = E.Either<AppendFailure, AppendResult>;

interface SentCall {
  readonly ids: ReadonlyArray<string>;
  readonly expectedRevision: number;
  readonly bytes: number;
  readonly answer: (outcome: Outcome) => void;
  readonly fail: (error: Error) => void;
}

describe('Lines of appends', () => {
  let calls: SentCall[];
  let lines: AppendLines;
  beforeEach(() => {
    calls = [];
    lines = new AppendLines(({ events, expectedRevision }, bytes) => {
      const { promise, resolve, reject } = Promise.withResolvers<Outcome>();
      calls.push({ ids: events.map(({ id }) => id), expectedRevision, bytes, answer: resolve, fail: reject });
      return promise;
    });
  });

  const append = (expectedRevision: number, ...ids: string[]): Append => ({
    stream: 'flow-1',
    expectedRevision,
    events: ids.map((id) => ({ id, type: 'Done', data: {}, metadata: {} }) as unknown as Append['events'][number]),
  });
  const stored = (revision: number, position: number): Outcome => E.right({ revision, position });
  const unavailable: Outcome = E.left({ kind: 'unavailable', detail: 'away', retryAfterSeconds: 1 });
  const sent = () => calls.map(({ ids }) => ids);
  const answer = async (call: number, outcome: Outcome) => {
    calls[call]?.answer(outcome);
    await nextTurn();
  };

  it('send the next call when the one before is stored, with all that waits', async () => {
    const first = lines.add(append(-1, 'a'), 10);
    const second = lines.add(append(0, 'b', 'c'), 20, 'a');
    const third = lines.add(append(2, 'd'), 30, 'c');
    assert.deepEqual(sent(), [['a']]);
    await answer(0, stored(0, 100));
    assert.deepEqual(sent(), [['a'], ['b', 'c', 'd']]);
    assert.deepEqual([calls[1]?.expectedRevision, calls[1]?.bytes], [0, 50]);
    await answer(1, stored(3, 140));
    assert.deepEqual(await Promise.all([first, second, third]), [stored(0, 100), stored(2, 140), stored(3, 140)]);
  });

  it('send at most 512 KiB together, and a larger append alone', async () => {
    const half = 256 * 1024;
    void lines.add(append(-1, 'a'), 1);
    const sizes = [half, half, 1, 3 * half, 1];
    const ids = ['a', 'b', 'c', 'd', 'e', 'f'];
    sizes.forEach((bytes, index) => {
      void lines.add(append(index, ids[index + 1] ?? ''), bytes, ids[index]);
    });
    for (let call = 0; call < 5; call += 1) await answer(call, stored(0, 1));
    assert.deepEqual(sent(), [['a'], ['b', 'c'], ['d'], ['e'], ['f']]);
  });

  for (const [name, outcome] of [
    ['conflicts', E.left({ kind: 'conflict', actualRevision: 7 })],
    ['is lost', unavailable],
  ] satisfies [string, Outcome][]) {
    it(`refuse unsent what was decided on a call that ${name}`, async () => {
      const first = lines.add(append(-1, 'a'), 1);
      const second = lines.add(append(0, 'b'), 1, 'a');
      await answer(0, outcome);
      assert.deepEqual(await first, outcome);
      assert.deepEqual(await second, E.left({ kind: 'conflict', actualRevision: 0 }));
      assert.deepEqual(await lines.add(append(1, 'c'), 1, 'b'), E.left({ kind: 'conflict', actualRevision: 1 }));
      assert.deepEqual(sent(), [['a']]);
    });
  }

  it('reject with the error of their call alone', async () => {
    const first = lines.add(append(-1, 'a'), 1);
    const second = lines.add(append(0, 'b'), 1, 'a');
    calls[0]?.fail(new Error('deleted'));
    await assert.rejects(first, /deleted/);
    assert.deepEqual(await second, E.left({ kind: 'conflict', actualRevision: 0 }));
  });

  it('send an append that was decided on one that is stored by now', async () => {
    const first = lines.add(append(-1, 'a'), 1);
    await answer(0, stored(0, 5));
    await first;
    const second = lines.add(append(0, 'b'), 1, 'a');
    await answer(1, stored(1, 6));
    assert.deepEqual(await second, stored(1, 6));
  });

  it('do not delay a write that bypasses them, nor other streams', async () => {
    void lines.add(append(-1, 'a'), 1);
    void lines.add(append(0, 'x'), 1);
    void lines.add({ ...append(-1, 'o'), stream: 'flow-2' }, 1);
    assert.deepEqual(sent(), [['a'], ['x'], ['o']]);
  });

  it('send each append alone when the server allows less than a call has', async () => {
    const outcomes = [
      lines.add(append(-1, 'a'), 1),
      lines.add(append(0, 'b'), 1, 'a'),
      lines.add(append(1, 'c'), 1, 'b'),
    ];
    await answer(0, stored(0, 1));
    await answer(1, E.left({ kind: 'append-too-large', bytes: 2, maxBytes: 1 }));
    await answer(2, stored(1, 2));
    await answer(3, stored(2, 3));
    assert.deepEqual(sent(), [['a'], ['b', 'c'], ['b'], ['c']]);
    assert.deepEqual(await Promise.all(outcomes), [stored(0, 1), stored(1, 2), stored(2, 3)]);
  });
});
