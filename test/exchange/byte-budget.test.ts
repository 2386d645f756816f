import assert from 'node:assert/strict';
import fc from 'fast-check';
import { ByteBudget, type ByteReservation } from '#exchange/byte-budget.ts';

const limits = { maxBytesPerProject: 60, maxBytes: 100 };

/** A hold, and what the test expects of it. */
interface Followed {
  readonly hold: ByteReservation;
  readonly projectId: string;
  bytes: number;
  isUnfinished: boolean;
  isEvicted: boolean;
}

describe('ByteBudget', () => {
  it('refuses bytes beyond a project’s limit to that project, and beyond the node’s limit to everyone', () => {
    const budget = new ByteBudget(limits);
    const one = budget.hold('one');
    assert.equal(one.take(60), null);
    assert.equal(one.take(1), 'project');
    assert.equal(budget.hold('one').shortageOf(1), 'project');
    const two = budget.hold('two');
    assert.equal(two.take(40), null);
    assert.equal(budget.hold('three').take(1), 'node');
    assert.equal(budget.hold('three').shortageOf(1), 'node');
    one.release();
    assert.equal(budget.hold('three').take(60), null);
    assert.equal(budget.bytes, 100);
  });

  it('refuses a request immediately that can never fit', () => {
    const budget = new ByteBudget({ maxBytesPerProject: 200, maxBytes: 100 });
    assert.equal(budget.hold('one').shortageOf(101), 'node');
    assert.equal(budget.hold('one').shortageOf(201), 'project');
  });

  it('counts bytes of what has begun beyond a project’s limit, and refuses them beyond the node’s', () => {
    const budget = new ByteBudget(limits);
    const one = budget.hold('one');
    assert.equal(one.takeBegun(59), true);
    assert.equal(budget.fullFor('one'), null);
    assert.equal(one.takeBegun(40), true);
    assert.equal(budget.fullFor('one'), 'project');
    assert.equal(budget.fullFor('two'), null);
    assert.equal(one.takeBegun(2), false);
    assert.equal(budget.bytesOf('one'), 99);
    assert.equal(budget.hold('two').takeBegun(1), true);
    assert.equal(budget.fullFor('two'), 'node');
    one.release();
    assert.equal(one.takeBegun(1), false);
    assert.equal(budget.fullFor('one'), null);
  });

  it('counts each refusal, of what begins and of what has begun', () => {
    const budget = new ByteBudget(limits);
    const one = budget.hold('one');
    assert.equal(one.takeBegun(101), false);
    assert.equal(budget.refused, 1);
    assert.equal(budget.hasRoomFor(101), false);
    assert.equal(budget.refused, 2);
    assert.equal(one.shortageOf(61), 'project');
    assert.equal(budget.refused, 3);
    assert.equal(one.take(61), 'project');
    assert.equal(budget.refused, 4);
    assert.equal(one.take(60), null);
    assert.equal(budget.refused, 4);
  });

  it('counts bytes that are in memory already whatever the limits are', () => {
    const budget = new ByteBudget(limits);
    const hold = budget.hold('one');
    hold.resize(150);
    assert.deepEqual([budget.bytes, budget.hasRoomFor(1)], [150, false]);
    hold.resize(20);
    assert.deepEqual([budget.bytesOf('one'), budget.hasRoomFor(80), budget.hasRoomFor(81)], [20, true, false]);
    hold.release();
    hold.resize(30);
    assert.deepEqual([budget.bytes, budget.projects], [0, 0]);
  });

  it('evicts the largest unfinished hold of the project that holds most, and never a finished one', () => {
    const budget = new ByteBudget(limits);
    const evicted: string[] = [];
    const unfinished = (projectId: string, name: string, bytes: number) => {
      const hold = budget.hold(projectId);
      hold.begin(() => evicted.push(name));
      assert.equal(hold.take(bytes), null);
      return hold;
    };
    const whole = unfinished('one', 'whole', 30);
    whole.finish();
    unfinished('one', 'small', 5);
    unfinished('one', 'large', 20);
    unfinished('two', 'of another', 40);
    const newcomer = budget.hold('three');
    assert.equal(newcomer.shortageOf(10), null);
    assert.deepEqual(evicted, [], 'asking evicts nothing');
    assert.equal(newcomer.take(10), null);
    assert.deepEqual(evicted, ['large']);
    assert.equal(budget.bytesOf('one'), 35);
    assert.equal(budget.bytes, 85);
  });

  it('evicts no hold of a project that holds no more than the asking project', () => {
    const budget = new ByteBudget(limits);
    const small = budget.hold('one');
    small.begin(() => assert.fail('evicted'));
    small.take(50);
    const asking = budget.hold('two');
    asking.take(50);
    assert.equal(asking.take(1), 'node');
  });

  it('gives no more bytes to an evicted hold, and no longer counts it', () => {
    const budget = new ByteBudget(limits);
    const greedy = budget.hold('one');
    greedy.begin(() => undefined);
    greedy.take(60);
    budget.hold('two').take(40);
    budget.hold('three').take(10);
    assert.equal(greedy.take(1), 'node');
    greedy.giveBack(60);
    greedy.finish();
    greedy.release();
    assert.equal(budget.bytes, 50);
  });

  it('keeps its sums and limits for any sequence of calls, and holds nothing once all is released', () => {
    const command = fc.record({
      hold: fc.nat({ max: 7 }),
      kind: fc.constantFrom('begin', 'take', 'take', 'take', 'giveBack', 'finish', 'release'),
      bytes: fc.nat({ max: 40 }),
    });
    fc.assert(
      fc.property(fc.array(command, { maxLength: 60 }), (commands) => {
        const budget = new ByteBudget(limits);
        const make = (index: number): Followed => {
          const projectId = `project${index % 3}`;
          return { hold: budget.hold(projectId), projectId, bytes: 0, isUnfinished: false, isEvicted: false };
        };
        const all: Followed[] = Array.from({ length: 8 }, (_, index) => make(index));
        const released: Followed[] = [];
        const sumOf = (projectId?: string) =>
          all
            .filter((followed) => projectId === undefined || followed.projectId === projectId)
            .reduce((sum, { bytes }) => sum + bytes, 0);
        for (const { hold: index, kind, bytes } of commands) {
          const one = all[index] as Followed;
          if (kind === 'begin') {
            one.isUnfinished = !one.isEvicted;
            one.hold.begin(() => {
              assert.ok(one.isUnfinished && !one.isEvicted, 'only what is unfinished is evicted, once');
              one.isEvicted = true;
              one.bytes = 0;
            });
          } else if (kind === 'finish') {
            one.isUnfinished = false;
            one.hold.finish();
          } else if (kind === 'release') {
            one.hold.release();
            released.push(one);
            all[index] = make(index);
          } else if (kind === 'giveBack') {
            one.hold.giveBack(bytes);
            one.bytes -= Math.min(bytes, one.bytes);
          } else if (one.hold.take(bytes) === null) {
            assert.ok(!one.isEvicted);
            one.bytes += bytes;
          }
          assert.equal(budget.bytes, sumOf());
          assert.ok(budget.bytes >= 0 && budget.bytes <= limits.maxBytes);
          for (const projectId of ['project0', 'project1', 'project2']) {
            assert.equal(budget.bytesOf(projectId), sumOf(projectId));
            assert.ok(budget.bytesOf(projectId) <= limits.maxBytesPerProject);
          }
        }
        for (const { hold } of [...all, ...released]) hold.release();
        assert.equal(budget.bytes, 0);
        assert.equal(budget.projects, 0);
      }),
    );
  });
});
