import assert from 'node:assert/strict';
import * as E from 'fp-ts/lib/Either.js';
import { hasTool } from '#mcp/tools/tool-catalogue.ts';
import { listTargets } from '#queries/gateway/list-targets.ts';
import { allOperations } from '#test/support/openapi/all-operations.ts';

describe('list_targets', () => {
  const answerWith = (health: object | null) =>
    listTargets.answer({} as never, { gatewayHealth: () => health } as never);

  it('answers the health of targets without the changes of circuits', async () => {
    const health = { node: 'node-1', windowSeconds: 300, targets: [], circuitChanges: [] };
    const answer = await answerWith(health);
    assert.deepEqual(answer, E.right({ body: { node: 'node-1', windowSeconds: 300, targets: [] } }));
  });

  it('is refused on a node without a gateway', async () => {
    const answer = await answerWith(null);
    assert.ok(E.isLeft(answer) && answer.left.code === 'unavailable');
  });

  it('is a tool of MCP for operators', () => {
    const operation = allOperations().find(({ name }) => name === 'list_targets') ?? assert.fail();
    assert.ok(hasTool(operation));
    assert.deepEqual([operation.scope, operation.plane], ['operations:write', 'gateway']);
  });
});
