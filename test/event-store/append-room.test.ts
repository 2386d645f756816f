import assert from 'node:assert/strict';
import { AppendRoom } from '#event-store/append-limits.ts';
import { runFor } from '#shared/async/fair-queue.ts';

describe('AppendRoom', () => {
  const take = (room: AppendRoom, project: string, bytes: number) => runFor(project, () => room.take(bytes));

  it('divides the number of appends among projects', () => {
    const room = new AppendRoom({ maxPending: 4, maxPendingBytes: 1_000 });
    const leave = take(room, 'one', 1);
    assert.ok(leave !== null && take(room, 'one', 1) !== null);
    assert.equal(take(room, 'one', 1), null);
    assert.ok(take(room, 'other', 1) !== null);
    leave();
    assert.ok(take(room, 'one', 1) !== null);
  });

  it('divides the bytes among projects, and counts nothing for a refused append', () => {
    const room = new AppendRoom({ maxPending: 100, maxPendingBytes: 100 });
    const leave = take(room, 'one', 60);
    assert.ok(leave !== null);
    assert.equal(take(room, 'one', 1), null);
    assert.equal(take(room, 'other', 41), null);
    const other = take(room, 'other', 40);
    assert.ok(other !== null);
    leave();
    other();
    assert.ok(take(room, 'third', 100) !== null);
  });

  it('gives back the room of the project for which it was taken, whose work ever ends it', () => {
    const room = new AppendRoom({ maxPending: 2, maxPendingBytes: 100 });
    const leave = take(room, 'one', 1);
    runFor('other', () => leave?.());
    assert.ok(take(room, 'one', 1) !== null);
  });
});
