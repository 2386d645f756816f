import assert from 'node:assert/strict';
import { describe, it } from 'mocha';
import { inTurns } from '#shared/async/in-turns.ts';

describe('inTurns', () => {
  it('gives every item in order', async () => {
    const items = Array.from({ length: 120 }, (_, index) => index);
    const given: number[] = [];
    for await (const item of inTurns(items)) given.push(item);
    assert.deepEqual(given, items);
  });

  it('yields to the event loop after every fifty items', async () => {
    let turns = 0;
    let ended = false;
    const countTurns = () => {
      turns += 1;
      if (!ended) setImmediate(countTurns);
    };
    setImmediate(countTurns);
    const turnsAt: number[] = [];
    for await (const _ of inTurns(new Array(101).fill(null))) turnsAt.push(turns);
    ended = true;
    assert.equal(turnsAt[49], turnsAt[0]);
    assert.ok((turnsAt[50] ?? 0) > (turnsAt[49] ?? 0));
    assert.ok((turnsAt[100] ?? 0) > (turnsAt[99] ?? 0));
  });
});
