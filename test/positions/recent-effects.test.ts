import assert from 'node:assert/strict';
import { RecentEffects } from '#positions/recent-effects.ts';

describe('RecentEffects', () => {
  it('returns the appends of a process because of an event, each once', () => {
    const effects = new RecentEffects();
    for (const appended of [7, 9, 7]) effects.add('detach', 5, appended);
    effects.add('detach', 6, 10);
    effects.add('assign', 5, 11);
    assert.deepEqual([...effects.of('detach', 5)], [7, 9]);
    assert.deepEqual([...effects.of('assign', 5)], [11]);
    assert.deepEqual([...effects.of('assign', 6)], []);
  });

  it('forgets the oldest appends when there are too many', () => {
    const effects = new RecentEffects(2);
    effects.add('detach', 1, 2);
    effects.add('detach', 1, 3);
    effects.add('detach', 4, 5);
    assert.deepEqual([...effects.of('detach', 1)], [3]);
    effects.add('detach', 6, 7);
    assert.deepEqual([...effects.of('detach', 1)], []);
    assert.deepEqual([...effects.of('detach', 4)], [5]);
  });
});
