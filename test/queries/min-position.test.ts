import assert from 'node:assert/strict';
import * as E from 'fp-ts/lib/Either.js';
import { queryOperation } from '#operations/execute-query.ts';
import { listProjects } from '#queries/project/list-projects.ts';
import { invokeOperation } from '#test/support/invoke-operation.ts';

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
