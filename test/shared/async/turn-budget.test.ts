import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { EventLoopBudget, runForClient } from '#shared/async/event-loop-budget.ts';
import { runFor } from '#shared/async/fair-queue.ts';
import { collectAllGarbage } from '#shared/memory/collect-garbage.ts';

describe('EventLoopBudget', () => {
  it('lets work that fits into the budget begin at once', async () => {
    const budget = new EventLoopBudget(100);
    let isTurnOver = false;
    setImmediate(() => {
      isTurnOver = true;
    });
    for (let times = 0; times < 10; times += 1) await budget.take(9);
    assert.equal(isTurnOver, false);
  });

  it('lets no more work begin in a turn once its budget is used up, and keeps the order', async () => {
    const budget = new EventLoopBudget(100);
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
    const budget = new EventLoopBudget(100);
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
    const budget = new EventLoopBudget(10);
    budget.spend(10);
    const begun: string[] = [];
    const first = budget.take(10).then(() => begun.push('first'));
    await nextTurn();
    const second = budget.take(10).then(() => begun.push('second'));
    await Promise.all([first, second]);
    assert.deepEqual(begun, ['first', 'second']);
  });

  it('lets work of unknown size begin one after the other until the budget is used up', async () => {
    const budget = new EventLoopBudget(100);
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

  it('serves owners that wait in turn, and the work of one owner in its order', async () => {
    const budget = new EventLoopBudget(10);
    budget.spend(10);
    const begun: string[] = [];
    const work = (name: string) => runFor(name.charAt(0), () => budget.take(10).then(() => begun.push(name)));
    await Promise.all(['a1', 'a2', 'a3', 'a4', 'b1', 'c1', 'b2'].map(work));
    assert.deepEqual(begun, ['a1', 'b1', 'c1', 'a2', 'b2', 'a3', 'a4']);
  });

  it('gives an owner with small pieces the share of an owner with a large piece', async () => {
    const budget = new EventLoopBudget(100);
    budget.spend(100);
    const begun: string[] = [];
    const large = [1, 2, 3].map(() => runFor('large', () => budget.take(1_000).then(() => begun.push('large'))));
    const small = runFor('small', async () => {
      for (let piece = 0; piece < 20; piece += 1) {
        await budget.take(10);
        begun.push('small');
      }
    });
    await Promise.all([...large, small]);
    const tens = Array.from({ length: 10 }, () => 'small');
    assert.deepEqual(begun, ['large', ...tens, 'large', ...tens, 'large']);
  });

  it('serves owners in turn whose work has an unknown size, and an owner that comes later is next', async () => {
    const budget = new EventLoopBudget(100);
    const begun: string[] = [];
    const work = (name: string) =>
      runFor(name.charAt(0), () =>
        budget.run(
          () => begun.push(name),
          () => 150,
        ),
      );
    const first = ['a1', 'a2', 'a3', 'a4'].map(work);
    await nextTurn();
    await Promise.all([...first, work('b1')]);
    assert.ok(begun.indexOf('b1') < begun.indexOf('a4'), begun.join());
  });

  it('rejects with the error of work that waited, and serves what waits behind it', async () => {
    const budget = new EventLoopBudget(10);
    budget.spend(10);
    const failed = budget.run(
      () => {
        throw new Error('broken');
      },
      () => 1,
    );
    const next = budget.run(
      () => 'served',
      () => 1,
    );
    await assert.rejects(failed, /broken/);
    assert.equal(await next, 'served');
  });

  it('gives up work of clients that have left when its turn comes, and serves what waits behind it in that turn', async () => {
    const budget = new EventLoopBudget(10);
    budget.spend(10);
    let hasLeft = false;
    const begun: string[] = [];
    const work = (name: string) => budget.take(10).then(() => begun.push(name));
    const check = () => {
      if (hasLeft) throw new Error('left');
    };
    const left = Array.from({ length: 100 }, () => runForClient(check, () => work('left')));
    const last = work('last');
    hasLeft = true;
    const outcomes = Promise.allSettled(left);
    await nextTurn();
    assert.deepEqual(begun, ['last']);
    await last;
    assert.deepEqual(new Set((await outcomes).map(({ status }) => status)), new Set(['rejected']));
  });

  it('keeps nothing of a client whose work is done, also while others keep its queue busy', async () => {
    const budget = new EventLoopBudget(1);
    const served = async () => {
      const client = { hasLeft: false };
      await runForClient(
        () => assert.equal(client.hasLeft, false),
        () => budget.take(1),
      );
      return new WeakRef(client);
    };
    const client = await served();
    const others = Array.from({ length: 100 }, () => budget.take(1));
    for (let turn = 0; turn < 10; turn += 1) await nextTurn();
    collectAllGarbage();
    assert.equal(client.deref(), undefined);
    assert.equal(budget.canBegin, false);
    await Promise.all(others);
  });

  it('lets work of clients that stay begin, and work that need not wait', async () => {
    const budget = new EventLoopBudget(10);
    const begun: string[] = [];
    const work = (name: string) => budget.take(10).then(() => begun.push(name));
    const fail = () => assert.fail('it does not wait');
    await runForClient(fail, () => work('first'));
    await runForClient(
      () => undefined,
      () => work('second'),
    );
    assert.deepEqual(begun, ['first', 'second']);
  });

  it('lets work that takes nothing but spends later begin one piece after the other', async () => {
    const budget = new EventLoopBudget(10);
    budget.spend(10);
    const begun: number[] = [];
    const all = [0, 1, 2].map(async (name) => {
      await budget.take(0);
      begun.push(name);
      budget.spend(10);
    });
    await nextTurn();
    assert.equal(begun.length, 1);
    await Promise.all(all);
    assert.deepEqual(begun, [0, 1, 2]);
  });
});
