import assert from 'node:assert/strict';
import * as E from 'fp-ts/lib/Either.js';
import { scanJsonObject } from '#exchange/json-body.ts';
import type { JsonListener } from '#shared/json/json-scanner.ts';

/** Counts the turns of the event loop until it is stopped. */
function countTurns() {
  const counted = { turns: 0, isOver: false };
  const turn = () => {
    counted.turns += 1;
    if (!counted.isOver) setImmediate(turn);
  };
  setImmediate(turn);
  return counted;
}

describe('scanJsonObject', () => {
  it('reads at most 65,536 values in one turn of the event loop, however many bodies it reads at the same time', async () => {
    const bodies = 8;
    const valuesOfEach = 4 * 65_536;
    const bytes = Buffer.from(`{"a":[{}${',{}'.repeat(valuesOfEach - 1)}]}`);
    const counted = countTurns();
    let turn = -1;
    let inTurn = 0;
    let most = 0;
    const listener: JsonListener = {
      maxLevel: 2,
      begin: () => {
        if (turn !== counted.turns) inTurn = 0;
        turn = counted.turns;
        inTurn += 1;
        most = Math.max(most, inTurn);
      },
      end: () => undefined,
    };
    const read = await Promise.all(Array.from({ length: bodies }, () => scanJsonObject(bytes, 10_000_000, listener)));
    counted.isOver = true;
    assert.ok(read.every((values) => E.isRight(values) && values.right === valuesOfEach + 2));
    assert.ok(most <= 65_536, `${most} values in one turn`);
  });

  it('reads a small body in the same turn of the event loop', async () => {
    const counted = countTurns();
    assert.ok(E.isRight(await scanJsonObject(Buffer.from('{"a":[1,2,3]}'), 100)));
    assert.equal(counted.turns, 0);
    counted.isOver = true;
  });
});
