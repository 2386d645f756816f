import assert from 'node:assert/strict';
import { deleteFlow } from '#commands/flow/delete-flow.ts';
import { begunFlow, flowDeleted, profileAssigned } from '#test/support/events/flow-events.ts';
import { ids } from '#test/support/events/tenants.ts';
import { inputOf } from '#test/support/harness/arbitrary-input.ts';
import { givenHistory } from '#test/support/harness/command-harness.ts';

describe('delete_flow', () => {
  it('deletes a flow and names the agent profile that it had', () => {
    givenHistory(...begunFlow())
      .when(deleteFlow, { flowId: ids.flow }, { related: false })
      .then(flowDeleted());
    givenHistory(...begunFlow(), profileAssigned(ids.profile, null))
      .when(deleteFlow, { flowId: ids.flow }, { related: false })
      .then(flowDeleted(ids.flow, ids.profile));
  });

  it('refuses to delete a flow with a phone number when rejectIfInUse is set', () => {
    givenHistory(...begunFlow())
      .when(deleteFlow, { flowId: ids.flow, rejectIfInUse: true }, { related: true })
      .then('flow-in-use');
  });

  it('queries the phone numbers of a flow only when rejectIfInUse is set', async () => {
    const asked: unknown[] = [];
    const loads = {
      load: () => Promise.reject(new Error('no stream is needed')),
      seal: () => Promise.reject(new Error('nothing is sealed')),
      newSecrets: { apiKey: '', webhookSecret: '' },
      dataAt: () => Promise.reject(new Error('no event is needed')),
      lookup: {
        exists: async (...question: unknown[]) => {
          asked.push(question);
          return true;
        },
        projection: async () => null,
        batchesRun: async () => true,
        webhookUrlFault: async () => null,
        webhookTries: () => null,
        process: async () => null,
        failureAt: async () => null,
        keyLastUsed: async () => null,
        descendantKeys: async () => [],
      },
    };
    const related = (input: object) =>
      deleteFlow.loadRelated?.({ flowId: ids.flow, ...input }, loads, null as never, null);
    assert.equal(await related({}), false);
    assert.equal(await related({ rejectIfInUse: false }), false);
    assert.deepEqual(asked, []);
    assert.equal(await related({ rejectIfInUse: true }), true);
    assert.deepEqual(asked, [['phone-numbers', { flowId: ids.flow }]]);
  });

  describe('input of delete_flow', () => {
    const of = inputOf(deleteFlow, { flowId: ids.flow });
    of.id('flowId');
    of.optional('rejectIfInUse', false);
    of.accepts('rejectIfInUse', 'true', 'the word true', true);
    of.accepts('rejectIfInUse', 'false', 'the word false', false);
    for (const value of ['', 'yes', '1', 'TRUE', 1, null]) of.refuses('rejectIfInUse', value);
  });
});
