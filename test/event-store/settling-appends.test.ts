import assert from 'node:assert/strict';
import { MessageChannel } from 'node:worker_threads';
import * as E from 'fp-ts/lib/Either.js';
import { AppendPlace } from '#event-store/append-limits.ts';
import { noStream } from '#event-store/event-store.ts';
import { AppendQueue } from '#event-store/sqlite/append-queue.ts';
import { Admission } from '#exchange/admission.ts';
import { keptCount } from '#exchange/held.ts';

const append = { stream: 'flow-1', expectedRevision: noStream, events: [], lastEventId: undefined };

describe('An append that settles after its request was answered', () => {
  let room: Admission['rooms']['append'];
  beforeEach(() => {
    room = new Admission().rooms.append;
  });

  it('has its place until its outcome is known, and is counted once', () => {
    const before = keptCount('settling append');
    const place = AppendPlace.take(room, 10);
    assert.equal(keptCount('settling append'), before);
    place?.keep();
    place?.keep();
    assert.deepEqual([keptCount('settling append'), room.taken], [before + 1, 1]);
    place?.leave();
    assert.deepEqual([keptCount('settling append'), room.taken], [before, 0]);
  });

  it('is not counted when its outcome is known before', () => {
    const before = keptCount('settling append');
    const place = AppendPlace.take(room, 10);
    place?.leave();
    place?.keep();
    assert.deepEqual([keptCount('settling append'), room.taken], [before, 0]);
  });

  it('ends with the late answer of the embedded store', async () => {
    const before = keptCount('settling append');
    const { port1, port2 } = new MessageChannel();
    const queue = new AppendQueue(port1, { room, answerWithinMs: 5 });
    const outcome = await queue.add(append, 10);
    assert.ok(E.isLeft(outcome) && outcome.left.kind === 'unavailable');
    assert.deepEqual([keptCount('settling append'), room.taken], [before + 1, 1]);
    queue.settle({ kind: 'failed', appends: 1, detail: 'The disk is full.' });
    assert.deepEqual([keptCount('settling append'), room.taken], [before, 0]);
    port1.close();
    port2.close();
  });
});
