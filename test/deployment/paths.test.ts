import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { pathsOfPlanes, withGatewayPaths } from '#test/support/deployment/paths-of-planes.ts';

const hint = 'run npm run paths';

describe('the paths of operations', () => {
  const paths = pathsOfPlanes();

  it('are those that the proxy sends to gateways', () => {
    const configuration = readFileSync('deployment/Caddyfile', 'utf8');
    assert.equal(configuration, withGatewayPaths(configuration, paths), hint);
    for (const path of ['/v1/messages', '/v1/responses', '/v1/embeddings'])
      assert.ok(configuration.includes(` ${path} ${path}/* `), path);
  });

  it('are those that a node names as served by nodes with another role', () => {
    assert.deepEqual(JSON.parse(readFileSync('src/http/routes/paths-of-planes.json', 'utf8')), paths, hint);
  });

  it('cannot be divided by a proxy if operations of both planes begin alike', () => {
    const mixed = { ...paths, control: ['/v1/files/of-all'] };
    assert.throws(() => withGatewayPaths('\n(gateway-paths) {\n\tpath \n}', mixed), /\/v1\/files\/of-all/);
  });
});
