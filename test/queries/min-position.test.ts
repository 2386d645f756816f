import assert from 'node:assert/strict';
import * as E from 'fp-ts/lib/Either.js';
import { queryOperation } from '#application/queries/query-handler.ts';
import { getFlow } from '#queries/flow/get-flow.ts';
import { listFlowVersions } from '#queries/flow-version/list-flow-versions.ts';
import { listProjects } from '#queries/project/list-projects.ts';
import { ids } from '#test/support/events/tenants.ts';
import { invokeOperation } from '#test/support/harness/invoke-operation.ts';

/** What a read that asks for position 12 is refused with, where the read models do not reach it in time. */
async function refusalOf(lastPosition: number | null): Promise<string> {
  const runtime = { reached: async () => false, lastPosition: async () => lastPosition };
  const answer = await invokeOperation(queryOperation(listProjects, runtime as never), {
    loadBody: () => assert.fail('it is refused before'),
    minPosition: 12,
  });
  return E.isLeft(answer) ? answer.left.code : 'answered';
}

describe('a position that the read models do not reach in time', () => {
  it('is refused for good where the log ends before it', async () => {
    assert.equal(await refusalOf(11), 'position-beyond-log');
  });

  it('may be asked for again where the log has it', async () => {
    assert.equal(await refusalOf(12), 'read-model-behind');
    assert.equal(await refusalOf(500), 'read-model-behind');
  });

  it('may be asked for again where the event store does not say where its log ends', async () => {
    assert.equal(await refusalOf(null), 'read-model-behind');
  });
});

describe('the read models that a minimum position waits for', () => {
  it('are those of the subject and of all that the query reads', async () => {
    const waitedFor: Array<ReadonlyArray<string>> = [];
    const reached = async (names: ReadonlyArray<string>) => {
      waitedFor.push(names);
      return false;
    };
    const runtime = { reached, lastPosition: async () => null };
    const ofOneFlow = { parameters: { flowId: ids.flow }, minPosition: 12 };
    await invokeOperation(queryOperation(listFlowVersions, runtime as never), ofOneFlow);
    await invokeOperation(queryOperation(getFlow, runtime as never), ofOneFlow);
    assert.deepEqual(waitedFor, [['flows', 'flow-versions'], ['flows']]);
  });
});
