import assert from 'node:assert/strict';
import * as E from 'fp-ts/lib/Either.js';
import { queryOperation } from '#application/queries/query-handler.ts';
import { listFlowVersions } from '#queries/flow-version/list-flow-versions.ts';
import { getProject } from '#queries/project/get-project.ts';
import { listProjects } from '#queries/project/list-projects.ts';
import { ids } from '#test/support/events/tenants.ts';
import { invokeOperation } from '#test/support/harness/invoke-operation.ts';

/** The code of the refusal of a read with minimum position 12 that the read models do not reach in time. */
async function refusalOf(lastPosition: number | null): Promise<string> {
  const runtime = { services: { waitForPosition: async () => false, lastPosition: async () => lastPosition } };
  const answer = await invokeOperation(queryOperation(listProjects, runtime as never), {
    loadBody: () => assert.fail('The body is loaded before the refusal.'),
    minPosition: 12,
  });
  return E.isLeft(answer) ? answer.left.code : 'answered';
}

describe('a minimum position that the read models do not reach in time', () => {
  it('refuses a read with position-beyond-log when the log ends before its minimum position', async () => {
    assert.equal(await refusalOf(11), 'position-beyond-log');
  });

  it('refuses a read with read-model-behind when the log has its minimum position', async () => {
    assert.equal(await refusalOf(12), 'read-model-behind');
    assert.equal(await refusalOf(500), 'read-model-behind');
  });

  it('refuses a read with read-model-behind when the event store does not report the log’s end', async () => {
    assert.equal(await refusalOf(null), 'read-model-behind');
  });
});

describe('a minimum position of a query', () => {
  it('waits for the read models of the subject and of everything that the query reads', async () => {
    const waitedFor: Array<ReadonlyArray<string>> = [];
    const waitForPosition = async (names: ReadonlyArray<string>) => {
      waitedFor.push(names);
      return false;
    };
    const runtime = { services: { waitForPosition, lastPosition: async () => null } };
    const ofOneProject = { parameters: { projectId: ids.project }, minPosition: 12 };
    const ofOneFlow = { parameters: { flowId: ids.flow }, minPosition: 12 };
    await invokeOperation(queryOperation(listFlowVersions, runtime as never), ofOneFlow);
    await invokeOperation(queryOperation(getProject, runtime as never), ofOneProject);
    assert.deepEqual(waitedFor, [['flows', 'flow-versions'], ['projects']]);
  });
});
