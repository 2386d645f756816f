import assert from 'node:assert/strict';
import { UnknownEvents } from '#projection-engine/operator-progress.ts';

describe('UnknownEvents', () => {
  it('counts events of unknown types by type, with their first and last position', () => {
    const unknown = new UnknownEvents(['Known']);
    const counted = [
      ['Later', 3],
      ['Known', 4],
      ['Later', 9],
      ['Other', 12],
    ] as const;
    assert.deepEqual(
      counted.map(([type, position]) => unknown.count({ type, position })),
      [true, false, true, true],
    );
    assert.deepEqual(unknown.state.types, [
      { type: 'Later', count: 2, firstPosition: 3, lastPosition: 9 },
      { type: 'Other', count: 1, firstPosition: 12, lastPosition: 12 },
    ]);
  });

  it('keeps the counts of types that a newer release still does not know', () => {
    const before = new UnknownEvents(['Known']);
    for (const type of ['Later', 'Other']) before.count({ type, position: 3 });
    const after = new UnknownEvents(['Known', 'Later']);
    assert.equal(after.restore(before.state), true);
    assert.deepEqual(after.state.types, [{ type: 'Other', count: 1, firstPosition: 3, lastPosition: 3 }]);
  });

  it('requires a new count of the log when a release knows fewer types, as after a rollback', () => {
    const { state } = new UnknownEvents(['Known', 'Later']);
    assert.equal(new UnknownEvents(['Known']).restore(state), false);
    assert.equal(new UnknownEvents(['Known']).restore(undefined), false);
  });

  it('limits the number of unknown types that it counts by name', () => {
    const unknown = new UnknownEvents([]);
    for (let number = 0; number < 1_000; number += 1) unknown.count({ type: `Type${number}`, position: number });
    assert.equal(unknown.state.types.length, 101);
    assert.equal(unknown.state.types.at(-1)?.count, 900);
  });
});
