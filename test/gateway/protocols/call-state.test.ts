import assert from 'node:assert/strict';
import fc from 'fast-check';
import { idWithState, readCallId } from '#gateway/protocols/call-state.ts';

const signatures = fc.record(
  { of: fc.string({ minLength: 1 }), value: fc.string({ maxLength: 2_000 }), isRedacted: fc.boolean() },
  { noNullPrototype: true },
);

describe('the state of a call in its id', () => {
  it('given any id and state when a client echoes them then both are read', () => {
    fc.assert(
      fc.property(fc.string(), signatures, (id, state) => {
        const echoed = idWithState(id, state);
        assert.match(echoed.slice(id.length), /^~[\w-]+$/);
        assert.deepEqual(readCallId(echoed), { id, state });
      }),
    );
  });

  it('given an id that the gateway has not written when it is read then it stays as it is', () => {
    for (const id of ['call_1', 'a~b', 'call_1~c2ln', '~', 'call_1~', idWithState('call_1', null)])
      assert.deepEqual(readCallId(id), { id, state: null });
  });

  it('given a state of more than 8 KiB when an id is written then the state is left out', () => {
    const state = (value: string) => ({ of: 'p/m', value, isRedacted: false });
    assert.equal(idWithState('c', state('é'.repeat(4_097))), 'c');
    assert.deepEqual(readCallId(idWithState('c', state('é'.repeat(4_096)))).state, state('é'.repeat(4_096)));
  });
});
