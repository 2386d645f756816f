import assert from 'node:assert/strict';
import { itemIdOf, newResponseId, responseIdNamedBy } from '#responses/response-ids.ts';

describe('the ids of items', () => {
  for (const list of ['input', 'output'] as const)
    it(`name their response, in the ${list}`, () => {
      for (const responseId of [newResponseId(), `resp_${'6a'.repeat(24)}`]) {
        const ids = [0, 1, 99_999].map((index) => itemIdOf('msg', { responseId, list, index }));
        assert.equal(new Set(ids).size, 3);
        for (const id of ids) {
          assert.match(id, /^msg_[0-9A-Za-z_]{1,60}$/);
          assert.equal(responseIdNamedBy(id), responseId);
        }
      }
    });

  it('are different for an item of the input and of the output', () => {
    const responseId = newResponseId();
    const [one, other] = (['input', 'output'] as const).map((list) => itemIdOf('msg', { responseId, list, index: 0 }));
    assert.notEqual(one, other);
  });

  it('name no response whose own id is in another form, or too long for an item', () => {
    for (const responseId of ['chatcmpl-1', 'resp_a-b', `resp_${'a'.repeat(49)}`]) {
      const id = itemIdOf('rs', { responseId, list: 'output', index: 3 });
      assert.match(id, /^rs_[0-9a-f]{32}_3$/);
      assert.notEqual(responseIdNamedBy(id), responseId);
    }
    for (const id of ['msg_68af', 'item', 'container:cntr_1', 'msg_a_b_1']) assert.equal(responseIdNamedBy(id), null);
  });
});
