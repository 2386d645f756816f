import assert from 'node:assert/strict';
import { createFindOtherRole } from '#http/routes/other-roles.ts';

describe('a path that another role serves', () => {
  const found = (planes: ReadonlyArray<'control' | 'gateway'>, path: string) => {
    const other = createFindOtherRole(new Set(planes))(path);
    return other === null ? null : [other.plane, other.failure.code, /role ([a-z-]+)/.exec(other.failure.detail)?.[1]];
  };

  it('is one of the control plane on a node of the gateway, and says so', () => {
    for (const path of ['/v1/flows/c123456', '/mcp', '/docs', '/docs/problems', '/dashboard/a/b.js', '/openapi.json'])
      assert.deepEqual(found(['gateway'], path), ['control', 'path-not-found', 'control-plane'], path);
  });

  it('is one of the gateway on a node of the control plane, and says so', () => {
    for (const path of ['/v1/messages', '/v1/responses/resp_1/cancel', '/v1/embeddings', '/v1/files'])
      assert.deepEqual(found(['control'], path), ['gateway', 'path-not-found', 'gateway'], path);
  });

  it('is every path on a node that only projects', () => {
    assert.equal(found([], '/v1/flows/c123456')?.[0], 'control');
    assert.equal(found([], '/v1/models')?.[0], 'gateway');
  });

  it('is none that this node serves itself, and none that only resembles one', () => {
    for (const path of ['/v1/messages', '/v1/flows/c123456']) assert.equal(found(['control', 'gateway'], path), null);
    for (const path of ['/openapi-json', '/docs2', '/dashboardx/a']) assert.equal(found(['gateway'], path), null, path);
    for (const path of ['/v1/models2', '/x/v1/models', '/v1/responses/a/b/c', '/'])
      assert.equal(found(['control'], path), null, path);
  });
});
