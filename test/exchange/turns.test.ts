import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { ClientDisconnectedError, Held } from '#exchange/held.ts';
import { type TurnKind, Turns } from '#exchange/turns.ts';
import { collectAllGarbage } from '#shared/memory/collect-garbage.ts';

const project = (owner: string) => ({ owner, hasLeft: false });
const a = project('a');

describe('Turns', () => {
  it('let work that fits into a turn begin without a promise', async () => {
    const turns = new Turns(100);
    let isTurnOver = false;
    setImmediate(() => {
      isTurnOver = true;
    });
    for (let times = 0; times < 10; times += 1) assert.equal(turns.take(a, 'list', 9), null);
    assert.equal(isTurnOver, false);
  });

  it('let no more work begin in a turn once it is used up, and keep the order', async () => {
    const turns = new Turns(100);
    const begun: number[] = [];
    const work = async (name: number) => {
      await turns.take(a, 'list', 50);
      begun.push(name);
    };
    const all = Promise.all([0, 1, 2, 3, 4].map(work));
    for (let turn = 1; turn <= 3; turn += 1) {
      await Promise.resolve();
      assert.ok(begun.length <= 2 * turn, `${begun.length} had begun in turn ${turn}`);
      await nextTurn();
    }
    await all;
    assert.deepEqual(begun, [0, 1, 2, 3, 4]);
  });

  it('give back the estimated work that was not done', async () => {
    const turns = new Turns(100);
    let isTurnOver = false;
    setImmediate(() => {
      isTurnOver = true;
    });
    for (let times = 0; times < 10; times += 1) {
      await turns.take(a, 'list', 60);
      turns.spend(a, 'list', -55);
    }
    assert.equal(isTurnOver, false);
  });

  it('let waiting work begin before work that comes later', async () => {
    const turns = new Turns(10);
    turns.spend(a, 'list', 10);
    const begun: string[] = [];
    const first = turns.take(a, 'list', 10)?.then(() => begun.push('first'));
    await nextTurn();
    const second = turns.take(a, 'list', 10)?.then(() => begun.push('second'));
    await Promise.all([first, second]);
    assert.deepEqual(begun, ['first', 'second']);
  });

  it('let work of unknown size begin one after the other until the turn is used up', async () => {
    const turns = new Turns(100);
    const begun: number[] = [];
    const work = async (name: number) =>
      turns.run(
        a,
        'list',
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

  it('serve projects that wait in turn, and the work of one project in its order', async () => {
    const turns = new Turns(10);
    turns.spend(a, 'list', 10);
    const begun: string[] = [];
    const work = (name: string) => turns.take(project(name.charAt(0)), 'list', 10)?.then(() => begun.push(name));
    await Promise.all(['a1', 'a2', 'a3', 'a4', 'b1', 'c1', 'b2'].map(work));
    assert.deepEqual(begun, ['a1', 'b1', 'c1', 'a2', 'b2', 'a3', 'a4']);
  });

  it('give a project with small pieces the share of a project with a large piece', async () => {
    const turns = new Turns(100);
    turns.spend(a, 'list', 100);
    const begun: string[] = [];
    const large = [1, 2, 3].map(() => turns.take(project('large'), 'list', 1_000)?.then(() => begun.push('large')));
    const small = async () => {
      for (let piece = 0; piece < 20; piece += 1) {
        await turns.take(project('small'), 'list', 10);
        begun.push('small');
      }
    };
    await Promise.all([...large, small()]);
    const tens = Array.from({ length: 10 }, () => 'small');
    assert.deepEqual(begun, ['large', ...tens, 'large', ...tens, 'large']);
  });

  it('serve projects in turn whose work has an unknown size, and a project that comes later is next', async () => {
    const turns = new Turns(100);
    const begun: string[] = [];
    const work = async (name: string) =>
      turns.run(
        project(name.charAt(0)),
        'list',
        () => begun.push(name),
        () => 150,
      );
    const first = ['a1', 'a2', 'a3', 'a4'].map(work);
    await nextTurn();
    await Promise.all([...first, work('b1')]);
    assert.ok(begun.indexOf('b1') < begun.indexOf('a4'), begun.join());
  });

  it('reject with the error of work that waited, and serve what waits behind it', async () => {
    const turns = new Turns(10);
    turns.spend(a, 'list', 10);
    const fail = () => {
      throw new Error('broken');
    };
    const failed = turns.run(a, 'list', fail, () => 1);
    const next = turns.run(
      a,
      'list',
      () => 'served',
      () => 1,
    );
    await assert.rejects(Promise.resolve(failed), /broken/);
    assert.equal(await next, 'served');
  });

  it('end the waits of clients that have left in the next turn, and serve what waits behind them in it', async () => {
    const turns = new Turns(10);
    turns.spend(a, 'list', 10);
    const begun: string[] = [];
    const client = new Held('a');
    const left = Array.from({ length: 100 }, () => turns.take(client, 'list', 10)?.then(() => begun.push('left')));
    const last = turns.take(a, 'list', 10)?.then(() => begun.push('last'));
    client.leave();
    const outcomes = Promise.allSettled(left);
    await nextTurn();
    assert.deepEqual(begun, ['last']);
    await last;
    for (const outcome of await outcomes) {
      assert.ok(outcome.status === 'rejected');
      assert.ok(outcome.reason instanceof ClientDisconnectedError);
    }
  });

  it('end the wait of a client that has left although the turns of others come first', async () => {
    const turns = new Turns(10);
    turns.spend(a, 'list', 10);
    const others = Array.from({ length: 20 }, () => turns.take(a, 'list', 10));
    const client = new Held('a');
    const left = assert.rejects(Promise.resolve(turns.take(client, 'list', 10)), ClientDisconnectedError);
    let hasBegunLast = false;
    void others.at(-1)?.then(() => {
      hasBegunLast = true;
    });
    client.leave();
    await left;
    assert.equal(hasBegunLast, false);
    await Promise.all(others);
  });

  it('keep nothing of a client whose work is done, also while others keep them busy', async () => {
    const turns = new Turns(1);
    const served = async () => {
      const client = new Held('a');
      await client.run(async () => turns.take(client, 'list', 1));
      return new WeakRef(client);
    };
    const client = await served();
    const others = Array.from({ length: 100 }, () => turns.take(a, 'list', 1));
    for (let turn = 0; turn < 10; turn += 1) await nextTurn();
    collectAllGarbage();
    assert.equal(client.deref(), undefined);
    assert.notEqual(turns.take(a, 'list', 1), null);
    await Promise.all(others);
  });

  it('let work that need not wait begin although its client has left', () => {
    const client = new Held('a');
    client.leave();
    assert.equal(new Turns(10).take(client, 'list', 10), null);
  });

  it('let work that takes nothing but spends later begin one piece after the other', async () => {
    const turns = new Turns(10);
    turns.spend(a, 'list', 10);
    const begun: number[] = [];
    const all = [0, 1, 2].map(async (name) => {
      await turns.take(a, 'list', 0);
      begun.push(name);
      turns.spend(a, 'list', 10);
    });
    await nextTurn();
    assert.equal(begun.length, 1);
    await Promise.all(all);
    assert.deepEqual(begun, [0, 1, 2]);
  });

  it('run several kinds of work together in one turn, each with half of it', async () => {
    const turns = new Turns(100);
    turns.spend(a, 'log', 100);
    const begun: TurnKind[] = [];
    const work = (kind: TurnKind) => turns.take(a, kind, 10)?.then(() => begun.push(kind));
    const all = [...Array.from({ length: 10 }, () => work('list')), ...Array.from({ length: 10 }, () => work('audit'))];
    await nextTurn();
    const ofKind = (kind: TurnKind) => begun.filter((each) => each === kind).length;
    assert.deepEqual([ofKind('list'), ofKind('audit')], [5, 5]);
    await Promise.all(all);
  });
});
