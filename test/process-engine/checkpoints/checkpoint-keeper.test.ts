import assert from 'node:assert/strict';
import { CheckpointKeeper } from '#process-engine/checkpoints/checkpoint-keeper.ts';
import type { Checkpoint } from '#process-engine/checkpoints/checkpoint-store.ts';
import { eventually } from '#test/support/run/eventually.ts';

const at = (position: number): Checkpoint => ({ position, lastAppended: 0 });

/** A keeper whose intervals end when the test requires it. */
function startKeeper(write: (checkpoint: Checkpoint) => Promise<void> = async () => undefined) {
  const written: number[] = [];
  const pauses: Array<() => void> = [];
  let failures = 0;
  const keeper = new CheckpointKeeper({
    stored: at(5),
    intervalMs: 1_000,
    write: async (checkpoint) => {
      await write(checkpoint);
      written.push(checkpoint.position);
    },
    onFailure: () => {
      failures += 1;
    },
    pause: (_, signal) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      pauses.push(resolve);
      signal.addEventListener('abort', () => resolve());
      return promise;
    },
  });
  const endInterval = async (): Promise<void> => {
    pauses.shift()?.();
    await new Promise(setImmediate);
  };
  return { keeper, written, pauses, endInterval, failures: () => failures };
}

describe('CheckpointKeeper', () => {
  it('writes the newest position at the end of an interval, and once', async () => {
    const { keeper, written, pauses, endInterval } = startKeeper();
    keeper.move(at(6));
    keeper.move(at(7));
    assert.deepEqual(written, []);
    await endInterval();
    assert.deepEqual(written, [7]);
    // No position has changed, so no write waits.
    assert.equal(pauses.length, 0);
    keeper.move(at(7));
    assert.equal(pauses.length, 0);
    keeper.move(at(9));
    await endInterval();
    assert.deepEqual(written, [7, 9]);
    await keeper.end();
    assert.deepEqual(written, [7, 9]);
  });

  it('writes nothing at the end of an interval in which the position was stored', async () => {
    const { keeper, written, pauses, endInterval } = startKeeper();
    keeper.move(at(6));
    await keeper.store(at(8));
    assert.deepEqual(written, [8]);
    await endInterval();
    assert.deepEqual(written, [8]);
    assert.equal(pauses.length, 0);
    await keeper.end();
  });

  it('begins a write after the running write, so that no older position replaces a newer one', async () => {
    const { promise: gate, resolve: open } = Promise.withResolvers<void>();
    const begun: number[] = [];
    const { keeper, written, endInterval } = startKeeper(async ({ position }) => {
      begun.push(position);
      if (position === 6) await gate;
    });
    keeper.move(at(6));
    await endInterval();
    const stored = keeper.store(at(7));
    assert.deepEqual(begun, [6]);
    open();
    await stored;
    assert.deepEqual(written, [6, 7]);
    await keeper.end();
  });

  it('writes a changed position at its end, without waiting for the interval', async () => {
    const { keeper, written } = startKeeper();
    keeper.move(at(6));
    await keeper.end();
    assert.deepEqual(written, [6]);
    keeper.move(at(7));
    assert.deepEqual(written, [6]);
  });

  it('reports a failed write once, and ends with its error', async () => {
    const { keeper, pauses, endInterval, failures } = startKeeper(() => Promise.reject(new Error('the disk is full')));
    keeper.move(at(6));
    await endInterval();
    await eventually(() => failures() === 1);
    keeper.move(at(7));
    assert.equal(pauses.length, 0);
    await assert.rejects(keeper.store(at(8)), /the disk is full/);
    await assert.rejects(keeper.end(), /the disk is full/);
    assert.equal(failures(), 1);
  });
});
