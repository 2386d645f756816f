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

const limitMilliseconds = 60_000;
const event = { stream: 'flow-one', type: 'Seen', data: {} };

describe('progress of a process on another node', () => {
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
      process: { name: 'follower', types: ['Seen'], concerns: () => true, react: async () => undefined },
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

  /** Lets the checkpoint move at the so manieth look. */
  const moveAt = (look: number, to: Checkpoint) => {
    beforePeek = async () => {
      if (peeks >= look) checkpoint = to;
    };
  };

  it('tells when the checkpoint has passed a position, and what was appended by then', async () => {
    moveAt(5, { position: 7, lastAppended: 9 });
    assert.equal(await progress.waitUntilProcessed(7, limitMilliseconds), 9);
    assert.equal(peeks, 5);
  });

  it('looks once for all who wait, and not when nobody does', async () => {
    moveAt(3, { position: 7, lastAppended: 0 });
    const waits = Array.from({ length: 50 }, (_, index) => progress.waitUntilProcessed(index % 8, limitMilliseconds));
    assert.deepEqual(new Set(await Promise.all(waits)), new Set([0]));
    const looked = peeks;
    assert.ok(looked <= 4, `looked ${looked} times`);
    await new Promise((resolve) => setTimeout(resolve, 50));
    assert.equal(await progress.waitUntilProcessed(6, limitMilliseconds), 0);
    assert.equal(peeks, looked);
  });

  it('looks at what was passed of this log, whose identity it asks for once', async () => {
    moveAt(2, { position: 7, lastAppended: 0 });
    assert.equal(await progress.waitUntilProcessed(7, limitMilliseconds), 0);
    moveAt(4, { position: 9, lastAppended: 0 });
    assert.equal(await progress.waitUntilProcessed(9, limitMilliseconds), 0);
    assert.deepEqual([...logs], store.events.map(identityByFirst));
    assert.equal(store.subscriptions, 1);
  });

  it('gives up when the time has run out', async () => {
    assert.equal(await progress.waitUntilProcessed(7, 30), null);
    assert.equal(await progress.waitUntilProcessed(7, 0), null);
  });

  it('does not wait for a process that has stopped', async () => {
    failure = { eventId: 'event-1', eventType: 'Seen', position: 5, message: 'It cannot be read.' };
    assert.equal(await progress.waitUntilProcessed(7, limitMilliseconds), null);
    checkpoint = { position: 7, lastAppended: 6 };
    assert.equal(await progress.waitUntilProcessed(7, limitMilliseconds), 6);
  });

  it('goes on looking when the store was down, and says so once', async () => {
    beforePeek = async () => {
      if (peeks < 3) throw new UnavailableError('It is down.');
      checkpoint = { position: 7, lastAppended: 0 };
    };
    assert.equal(await progress.waitUntilProcessed(7, limitMilliseconds), 0);
    assert.equal(warnings.length, 1);
  });

  it('ends every wait when it is closed', async () => {
    const wait = progress.waitUntilProcessed(7, limitMilliseconds);
    await progress.close();
    assert.equal(await wait, null);
  });
});
