import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { TurnBudget } from '#shared/async/turn-budget.ts';

describe('TurnBudget', () => {
  it('lets work that fits into the budget begin at once', async () => {
    const budget = new TurnBudget(100);
    let isTurnOver = false;
    setImmediate(() => {
      isTurnOver = true;
    });
    for (let times = 0; times < 10; times += 1) await budget.take(9);
    assert.equal(isTurnOver, false);
  });

  it('lets no more work begin in a turn once its budget is used up, and keeps the order', async () => {
    const budget = new TurnBudget(100);
    const begun: number[] = [];
    const work = (name: number) => budget.take(50).then(() => begun.push(name));
    const all = Promise.all([0, 1, 2, 3, 4].map(work));
    for (let turn = 1; turn <= 3; turn += 1) {
      await Promise.resolve();
      assert.ok(begun.length <= 2 * turn, `${begun.length} had begun in turn ${turn}`);
      await nextTurn();
    }
    await all;
    assert.deepEqual(begun, [0, 1, 2, 3, 4]);
  });

  it('gives back the estimated budget that was not used', async () => {
    const budget = new TurnBudget(100);
    let isTurnOver = false;
    setImmediate(() => {
      isTurnOver = true;
    });
    for (let times = 0; times < 10; times += 1) {
      await budget.take(60);
      budget.spend(-55);
    }
    assert.equal(isTurnOver, false);
  });

  it('lets waiting work begin before work that comes later', async () => {
    const budget = new TurnBudget(10);
    budget.spend(10);
    const begun: string[] = [];
    const first = budget.take(10).then(() => begun.push('first'));
    await nextTurn();
    const second = budget.take(10).then(() => begun.push('second'));
    await Promise.all([first, second]);
    assert.deepEqual(begun, ['first', 'second']);
  });

  it('lets work of unknown size begin one after the other until the budget is used up', async () => {
    const budget = new TurnBudget(100);
    const begun: number[] = [];
    const work = (name: number) =>
      budget.run(
        () => begun.push(name),
        () => 60,
      );
    const all = Promise.all([0, 1, 2, 3, 4].map(work));
    for (let turn = 1; turn <= 3; turn += 1) {
      for (let times = 0; times < 50; times += 1) await Promise.resolve();
      assert.ok(begun.length <= 2 * turn, `${begun.length} had begun in turn ${turn}`);
      await nextTurn();
    }
    await all;
    assert.deepEqual(begun, [0, 1, 2, 3, 4]);
  });
});
