import assert from 'node:assert/strict';
import fc from 'fast-check';
import { type CallOutline, planThinning } from '#usage/call-log/thinning.ts';

const outline = (at: number, given: Partial<CallOutline> = {}): CallOutline => ({
  ...{ id: `call-${at}`, at, isServed: true, keyId: 'key', model: 'large', bytes: 100, callsRepresented: 1 },
  ...given,
});

/** The calls after a thinning, oldest first. */
function thinned(calls: ReadonlyArray<CallOutline>, maxBytes: number) {
  const { removed, changed, lost } = planThinning(calls, maxBytes);
  const kept = calls.filter((call) => !removed.includes(call));
  return { kept, lost, shown: kept.map((call) => [call.at, changed.get(call) ?? call.callsRepresented]) };
}

const callsOf = (count: number) => Array.from({ length: count }, (_, index) => outline(index));

describe('planThinning', () => {
  it('changes nothing when the calls fit', () => {
    const calls = callsOf(3);
    assert.deepEqual(planThinning(calls, 300), { removed: [], changed: new Map(), lost: 0 });
  });

  it('lets one of two served calls represent both, beginning with the oldest', () => {
    assert.deepEqual(thinned(callsOf(6), 400).shown, [
      [0, 2],
      [2, 2],
      [4, 1],
      [5, 1],
    ]);
  });

  it('joins calls that represent the fewest first', () => {
    const calls = [outline(0, { callsRepresented: 4 }), outline(1, { callsRepresented: 4 }), outline(2), outline(3)];
    assert.deepEqual(thinned(calls, 300).shown, [
      [0, 4],
      [1, 4],
      [2, 2],
    ]);
  });

  it('keeps failures while served calls can be joined', () => {
    const calls = callsOf(8).map((call, index) => ({ ...call, isServed: index % 2 === 1 }));
    assert.deepEqual(thinned(calls, 500).shown, [
      [0, 1],
      [1, 4],
      [2, 1],
      [4, 1],
      [6, 1],
    ]);
  });

  it('joins no calls of different keys or models', () => {
    const calls = [outline(0), outline(1, { keyId: 'other' }), outline(2, { model: 'small' }), outline(3)];
    assert.deepEqual(thinned(calls, 300).shown, [
      [0, 2],
      [1, 1],
      [2, 1],
    ]);
  });

  it('removes the oldest calls when nothing is left to join, and says how many are lost', () => {
    const calls = [
      outline(0, { isServed: false }),
      outline(1, { callsRepresented: 7 }),
      outline(2, { isServed: false }),
    ];
    const { shown, lost } = thinned(calls, 100);
    assert.deepEqual([shown, lost], [[[2, 1]], 8]);
  });

  it('fits any calls into any space, and loses none while two can be joined', () => {
    const someCall = fc.record({
      isServed: fc.boolean(),
      keyId: fc.constantFrom('one', 'two'),
      model: fc.constantFrom('large', 'small'),
      bytes: fc.integer({ min: 1, max: 500 }),
      callsRepresented: fc.integer({ min: 1, max: 70 }),
    });
    fc.assert(
      fc.property(fc.array(someCall, { maxLength: 60 }), fc.nat(10_000), (given, maxBytes) => {
        const calls = given.map((call, at) => outline(at, call));
        const { kept, shown, lost } = thinned(calls, maxBytes);
        const bytes = kept.reduce((sum, call) => sum + call.bytes, 0);
        assert.ok(bytes <= maxBytes);
        const all = calls.reduce((sum, { callsRepresented }) => sum + callsRepresented, 0);
        const left = shown.reduce((sum, [, callsRepresented = 0]) => sum + callsRepresented, 0);
        assert.equal(left + lost, all);
        if (lost === 0) {
          const failures = (some: ReadonlyArray<CallOutline>) => some.filter(({ isServed }) => !isServed).length;
          assert.equal(failures(kept), failures(calls));
        }
      }),
    );
  });
});
