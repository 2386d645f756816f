import assert from 'node:assert/strict';
import { aliasOf, itemIdOf, newResponseId, responseIdNamedBy } from '#responses/response-ids.ts';

describe('the ids of items', () => {
  for (const list of ['input', 'output'] as const)
    it(`name their response, in the ${list}`, () => {
      for (const responseId of [newResponseId(), `resp_${'6a'.repeat(25)}`]) {
        const ids = [0, 1, 999_999].map((index) => itemIdOf('ctco', { responseId, list, index }));
        assert.equal(new Set(ids).size, 3);
        for (const id of ids) {
          assert.match(id, /^ctco_[0-9A-Za-z_]{1,59}$/);
          assert.equal(responseIdNamedBy(id), responseId);
        }
        assert.equal(aliasOf(responseId), null);
      }
    });

  it('are different for an item of the input and of the output', () => {
    const responseId = newResponseId();
    const [one, other] = (['input', 'output'] as const).map((list) => itemIdOf('msg', { responseId, list, index: 0 }));
    assert.notEqual(one, other);
  });

  it('name an alias of a response whose own id is in another form, or too long for an item', () => {
    const others = [
      'chatcmpl-1',
      'chatcmpl-2',
      'resp_a-b',
      '0f8fad5b-d9cb-469f-a165-70867728950e',
      `resp_${'a'.repeat(51)}`,
    ];
    const aliases = others.map((responseId) => {
      const id = itemIdOf('rs', { responseId, list: 'output', index: 3 });
      assert.match(id, /^rs_[0-9a-f]{32}_3$/);
      assert.equal(responseIdNamedBy(id), aliasOf(responseId));
      assert.equal(itemIdOf('rs', { responseId, list: 'output', index: 3 }), id, 'it is the same each time');
      return aliasOf(responseId);
    });
    assert.equal(new Set(aliases).size, others.length);
    for (const id of ['msg_68af', 'item', 'container:cntr_1', 'msg_a_b_1']) assert.equal(responseIdNamedBy(id), null);
  });
});
