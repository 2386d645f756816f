import assert from 'node:assert/strict';
import { identityByFirst } from '#event-store/log-identity.ts';
import {
  type Checkpoint,
  type WatchedCheckpoint,
  watchedCheckpoint,
} from '#process-engine/checkpoints/checkpoint-store.ts';
import { PolledProcessProgress } from '#process-engine/polled-process-progress.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { InMemoryEventStore } from '#test/support/fakes/in-memory-event-store.ts';

const timeoutMs = 60_000;
const event = { stream: 'flow-one', type: 'Seen', data: {} };

describe('PolledProcessProgress', () => {
  let store: InMemoryEventStore;
  let logs: Set<string>;
  let peeks: number;
  let checkpoint: Checkpoint;
  let failure: WatchedCheckpoint['failure'];
  let beforePeek: () => Promise<void>;
  let warnings: string[];
  let progress: PolledProcessProgress;

  beforeEach(() => {
    store = new InMemoryEventStore();
    store.append(event);
    logs = new Set();
    peeks = 0;
    warnings = [];
    checkpoint = { position: 0, lastAppended: 0 };
    failure = null;
    beforePeek = async () => undefined;
    progress = new PolledProcessProgress({
      process: { name: 'follower', types: ['Seen'], handles: () => true, handle: async () => undefined },
      store,
      checkpoints: {
        peek: async (_, log) => {
          logs.add(log);
          peeks += 1;
          await beforePeek();
          return watchedCheckpoint(checkpoint, failure);
        },
      },
      log: { info: () => undefined, warn: (_, message) => warnings.push(message), error: assert.fail },
    });
  });
  afterEach(() => progress.close());

  /** Moves the checkpoint at the n-th poll. */
  const moveAt = (look: number, to: Checkpoint) => {
    beforePeek = async () => {
      if (peeks >= look) checkpoint = to;
    };
  };

  it('resolves when the checkpoint has passed a position, with the position of the last append', async () => {
    moveAt(5, { position: 7, lastAppended: 9 });
    assert.equal(await progress.waitUntilProcessed(7, timeoutMs), 9);
    assert.equal(peeks, 5);
  });

  it('polls once for all waiting callers, and not at all without one', async () => {
    moveAt(3, { position: 7, lastAppended: 0 });
    const waits = Array.from({ length: 50 }, (_, index) => progress.waitUntilProcessed(index % 8, timeoutMs));
    assert.deepEqual(new Set(await Promise.all(waits)), new Set([0]));
    const looked = peeks;
    assert.ok(looked <= 4, `looked ${looked} times`);
    await new Promise((resolve) => setTimeout(resolve, 50));
    assert.equal(await progress.waitUntilProcessed(6, timeoutMs), 0);
    assert.equal(peeks, looked);
  });

  it('reads the checkpoint of this log, and asks for the log’s identity once', async () => {
    moveAt(2, { position: 7, lastAppended: 0 });
    assert.equal(await progress.waitUntilProcessed(7, timeoutMs), 0);
    moveAt(4, { position: 9, lastAppended: 0 });
    assert.equal(await progress.waitUntilProcessed(9, timeoutMs), 0);
    assert.deepEqual([...logs], store.events.map(identityByFirst));
    assert.equal(store.subscriptions, 1);
  });

  it('returns null at the time limit', async () => {
    assert.equal(await progress.waitUntilProcessed(7, 30), null);
    assert.equal(await progress.waitUntilProcessed(7, 0), null);
  });

  it('does not wait for a stopped process', async () => {
    failure = { eventId: 'event-1', eventType: 'Seen', position: 5, message: 'It cannot be read.' };
    assert.equal(await progress.waitUntilProcessed(7, timeoutMs), null);
    checkpoint = { position: 7, lastAppended: 6 };
    assert.equal(await progress.waitUntilProcessed(7, timeoutMs), 6);
  });

  it('continues polling after the store was down, and logs it once', async () => {
    beforePeek = async () => {
      if (peeks < 3) throw new UnavailableError('It is down.');
      checkpoint = { position: 7, lastAppended: 0 };
    };
    assert.equal(await progress.waitUntilProcessed(7, timeoutMs), 0);
    assert.equal(warnings.length, 1);
  });

  it('ends every wait when it is closed', async () => {
    const wait = progress.waitUntilProcessed(7, timeoutMs);
    await progress.close();
    assert.equal(await wait, null);
  });
});
