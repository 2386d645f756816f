import assert from 'node:assert/strict';
import fc from 'fast-check';
import { Admission } from '#exchange/admission.ts';
import { type FollowedPosition, type FollowerKind, Positions, type WaitOutcome } from '#positions/positions.ts';
import { runFor } from '#shared/async/fair-queue.ts';
import { itInRounds } from '#test/support/run/long.ts';

const long = 60_000;
const followers = [
  { name: 'flows', types: ['FlowCreated', 'FlowDeleted'] },
  { name: 'projects', types: ['ProjectCreated'] },
  { name: 'audit', types: ['FlowCreated', 'ProjectCreated'] },
];
const at = (position: number, live = true): FollowedPosition => ({ position, live });
const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

describe('Positions', () => {
  let positions: Positions;
  beforeEach(() => {
    positions = new Positions(new Admission());
    positions.declare('projection', followers);
  });
  afterEach(() => positions.close());

  const set = (all: Readonly<Record<string, FollowedPosition>>, kind: FollowerKind = 'projection') =>
    positions.update(kind, new Map(Object.entries(all)));
  /** The outcome so far of a wait. */
  const outcomeOf = async (wait: Promise<WaitOutcome>): Promise<WaitOutcome | 'waiting'> => {
    await nextTurn();
    return Promise.race([wait, Promise.resolve('waiting' as const)]);
  };

  it('ends a wait by event types when every follower of one of them has passed the position', async () => {
    const wait = positions.passed({ types: ['FlowDeleted', 'ProjectCreated'] }, 5, { ms: long });
    assert.equal(await outcomeOf(wait), 'reached', 'unknown followers do not count');
    set({ flows: at(4), projects: at(5), audit: at(0) });
    const second = positions.passed({ types: ['FlowDeleted'] }, 5, { ms: long });
    const third = positions.passed({ types: ['FlowDeleted', 'ProjectCreated'] }, 5, { ms: long });
    set({ flows: at(5), projects: at(5), audit: at(0) });
    assert.equal(await second, 'reached');
    assert.equal(await outcomeOf(third), 'waiting');
    set({ flows: at(5), projects: at(5), audit: at(5) });
    assert.equal(await third, 'reached');
  });

  it('ends a wait for event types that no follower handles immediately', async () => {
    set({ flows: at(0) });
    assert.equal(await positions.passed({ types: ['SomethingElse'] }, 1e9, { ms: long }), 'reached');
    assert.equal(await positions.passed({ types: ['SomethingElse', 'Another'] }, 1e9, { ms: long }), 'reached');
  });

  it('does not wait for a follower that has stopped or is unknown, unless strictly', async () => {
    set({ flows: at(3, false), audit: at(5) });
    assert.equal(await positions.passed('all', 5, { ms: long }), 'reached');
    assert.equal(await positions.passed({ names: ['flows'] }, 5, { ms: 10, strict: true }), 'timeout');
    assert.equal(await positions.passed({ names: ['projects'] }, 5, { ms: 10, strict: true }), 'timeout');
    assert.equal(await positions.passed({ names: ['flows'] }, 3, { ms: 10, strict: true }), 'reached');
    assert.equal(positions.hasPassed('all', 5), true);
    assert.equal(positions.hasPassed('all', 5, { strict: true }), false);
    assert.deepEqual(
      ['flows', 'projects', 'audit'].map((name) => positions.isHalted('projection', name)),
      [true, false, false],
    );
  });

  it('ends a wait for a follower that stops', async () => {
    set({ flows: at(3) });
    const wait = positions.passed({ names: ['flows'] }, 5, { ms: long });
    set({ flows: at(3, false) });
    assert.equal(await wait, 'reached');
  });

  it('keeps processes and projections apart', async () => {
    positions.declare('process', [{ name: 'flows', types: ['FlowCreated'] }]);
    set({ flows: at(5), audit: at(5) });
    set({ flows: at(1) }, 'process');
    assert.equal(await positions.passed({ types: ['FlowCreated'] }, 5, { ms: long }), 'reached');
    assert.equal(await positions.passed({ types: ['FlowCreated'] }, 5, { kind: 'process', ms: 10 }), 'timeout');
  });

  it('ends a wait with timeout after the requested time, when its signal aborts, and when it is closed', async () => {
    set({ flows: at(1) });
    const flows = { names: ['flows'] };
    assert.equal(await positions.passed(flows, 5, { ms: 10 }), 'timeout');
    assert.equal(await positions.passed(flows, 5, { ms: 0 }), 'timeout');
    const ending = new AbortController();
    const aborted = positions.passed(flows, 5, { ms: long, signal: ending.signal });
    ending.abort();
    assert.equal(await aborted, 'timeout');
    assert.equal(await positions.passed(flows, 5, { ms: long, signal: ending.signal }), 'timeout');
    const closed = positions.passed(flows, 5, { ms: long });
    positions.close();
    assert.equal(await closed, 'timeout');
    assert.equal(await positions.passed(flows, 5, { ms: long }), 'timeout');
    assert.equal(await positions.passed(flows, 1, { ms: long }), 'reached');
  });

  it('ends a wait immediately with timeout when ten thousand callers wait already', async () => {
    set({ flows: at(1) });
    const wait = () => positions.passed({ names: ['flows'] }, 5, { ms: long });
    const waits = Array.from({ length: 10_000 }, wait);
    assert.equal(await wait(), 'timeout');
    set({ flows: at(5) });
    assert.deepEqual(new Set(await Promise.all(waits)), new Set(['reached']));
  });

  it('keeps room for waits of other projects when one project has as many as it may', async () => {
    set({ flows: at(1) });
    const wait = (project: string) => runFor(project, () => positions.passed({ names: ['flows'] }, 5, { ms: long }));
    const waits = Array.from({ length: 5_000 }, () => wait('one'));
    assert.equal(await wait('one'), 'timeout');
    const other = wait('other');
    set({ flows: at(5) });
    assert.equal(await other, 'reached');
    assert.deepEqual(new Set(await Promise.all(waits)), new Set(['reached']));
    set({ flows: at(1) });
    const next = wait('one');
    set({ flows: at(5) });
    assert.equal(await next, 'reached');
  });

  it('notifies listeners of waits and updates, until they unsubscribe', () => {
    set({ flows: at(1) });
    const heard: string[] = [];
    const ends = [positions.onWait(() => heard.push('wait')), positions.onUpdate((kind) => heard.push(kind))];
    void positions.passed({ names: ['flows'] }, 1, { ms: long });
    assert.equal(
      positions.isWaitingFor(() => true),
      false,
    );
    void positions.passed({ names: ['flows'] }, 5, { ms: long });
    assert.equal(
      positions.isWaitingFor((kind, name) => kind === 'projection' && name === 'flows'),
      true,
    );
    assert.equal(
      positions.isWaitingFor((kind) => kind === 'process'),
      false,
    );
    set({ flows: at(5) });
    for (const end of ends) end();
    void positions.passed({ names: ['flows'] }, 9, { ms: long });
    set({ flows: at(9) });
    assert.deepEqual(heard, ['wait', 'projection']);
  });

  itInRounds(
    'agrees with a simple model under random updates and waits',
    { few: 200, many: 3_000 },
    async (numRuns) => {
      const names = followers.map(({ name }) => name);
      const followed = fc.option(fc.record({ position: fc.nat(5), live: fc.boolean() }));
      const update = fc.record({ positions: fc.tuple(followed, followed, followed) });
      const wait = fc.record({ names: fc.subarray(names), position: fc.nat(6), strict: fc.boolean() });
      await fc.assert(
        fc.asyncProperty(fc.array(fc.oneof(update, wait), { maxLength: 30 }), async (steps) => {
          const tested = new Positions(new Admission());
          let current = new Map<string, FollowedPosition>();
          const isMet = (condition: { names: string[]; position: number; strict: boolean }) =>
            condition.names.every((name) => {
              const one = current.get(name);
              if (one === undefined) return !condition.strict;
              return one.position >= condition.position || (!one.live && !condition.strict);
            });
          const waits: Array<{
            expected: WaitOutcome;
            readonly condition: Parameters<typeof isMet>[0];
            actual: Promise<WaitOutcome>;
          }> = [];
          const settle = () => {
            for (const one of waits) if (isMet(one.condition)) one.expected = 'reached';
          };
          for (const step of steps) {
            if ('positions' in step) {
              const known = step.positions.flatMap((one, index) =>
                one === null ? [] : [[names[index] ?? '', one] as const],
              );
              current = new Map(known);
              tested.update('projection', current);
            } else {
              const actual = tested.passed({ names: step.names }, step.position, { ms: long, strict: step.strict });
              waits.push({ expected: 'timeout', condition: step, actual });
            }
            settle();
          }
          tested.close();
          assert.deepEqual(
            await Promise.all(waits.map(({ actual }) => actual)),
            waits.map(({ expected }) => expected),
          );
        }),
        { numRuns },
      );
    },
  );
});
