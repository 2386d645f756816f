import assert from 'node:assert/strict';
import { deleteFlow } from '#commands/flow/delete-flow.ts';
import { begunFlow, flowDeleted, profileAssigned } from '#test/support/events/flow-events.ts';
import { ids } from '#test/support/events/tenants.ts';
import { inputOf } from '#test/support/harness/arbitrary-input.ts';
import { givenHistory } from '#test/support/harness/command-harness.ts';

describe('delete_flow', () => {
  it('deletes, naming the agent profile that it had', () => {
    givenHistory(...begunFlow())
      .when(deleteFlow, { flowId: ids.flow }, { also: false })
      .then(flowDeleted());
    givenHistory(...begunFlow(), profileAssigned(ids.profile, null))
      .when(deleteFlow, { flowId: ids.flow }, { also: false })
      .then(flowDeleted(ids.flow, ids.profile));
  });

  it('is refused while a phone number points at it, when asked so', () => {
    givenHistory(...begunFlow())
      .when(deleteFlow, { flowId: ids.flow, rejectIfInUse: true }, { also: true })
      .then('flow-in-use');
  });

  it('asks the read model only when asked so', async () => {
    const asked: unknown[] = [];
    const loads = {
      load: () => Promise.reject(new Error('no stream is needed')),
      seal: () => Promise.reject(new Error('nobody is told of')),
      dataAt: () => Promise.reject(new Error('no event is needed')),
      lookup: {
        exists: async (...question: unknown[]) => {
          asked.push(question);
          return true;
        },
        projection: async () => null,
        process: async () => null,
        keyLastUsed: async () => null,
        descendantKeys: async () => [],
      },
    };
    const also = (input: object) =>
      deleteFlow.loadRelated?.({ flowId: ids.flow, ...input }, loads, null as never, null);
    assert.equal(await also({}), false);
    assert.equal(await also({ rejectIfInUse: false }), false);
    assert.deepEqual(asked, []);
    assert.equal(await also({ rejectIfInUse: true }), true);
    assert.deepEqual(asked, [['phone-numbers', { flowId: ids.flow }]]);
  });

  describe('input', () => {
    const of = inputOf(deleteFlow, { flowId: ids.flow });
    of.id('flowId');
    of.optional('rejectIfInUse', false);
    of.accepts('rejectIfInUse', 'true', 'the word true', true);
    of.accepts('rejectIfInUse', 'false', 'the word false', false);
    for (const value of ['', 'yes', '1', 'TRUE', 1, null]) of.refuses('rejectIfInUse', value);
  });
});
