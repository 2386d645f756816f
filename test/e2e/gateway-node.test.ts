import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Client as HttpClient } from 'undici';
import { gatewayCommands } from '#commands/gateway-table.ts';
import { commands } from '#commands/table.ts';
import { gatewayQueries } from '#queries/gateway-table.ts';
import { queries } from '#queries/table.ts';
import { EventStoreDbDoubleProcess } from '#test/support/eventstoredb/double-process.ts';
import { long } from '#test/support/run/long.ts';
import { describeOnOwnMongoDb } from '#test/support/service/mongodb-server.ts';
import { Nodes } from '#test/support/service/nodes.ts';
import { type ServiceProcess, type TemporaryFolder, temporaryFolder } from '#test/support/service/service-process.ts';

const root = pathToFileURL(resolve(import.meta.dirname, '../..')).href;
const hook = pathToFileURL(resolve(import.meta.dirname, '../support/service/list-loaded-modules.mjs')).href;
/** What answers files, batches, stores and the introspection of keys, which are on the gateway. */
const gatewayFolders =
  /^(commands|queries)\/(gateway-table\.ts|(file|batch|store|gateway|shared)\/|gateway-histories\.ts|api-key\/introspect-key\.ts)/;
/** What only the control plane, MCP, the dashboard and the projector need. */
const elsewhere =
  /^(commands\/|queries\/|src\/mcp\/|src\/dashboard\/(?!page-paths)|src\/projection-engine\/(projection-runner|generation-projector))/;

describe('the tables of the gateway', () => {
  it('hold the commands and queries that nodes of the gateway answer, and no others', () => {
    const names = (operations: ReadonlyArray<{ readonly about: { readonly name: string } }>) =>
      operations.map(({ about }) => about.name).toSorted();
    const onGateway = <T extends { readonly plane?: string; readonly onBothPlanes?: boolean }>(all: ReadonlyArray<T>) =>
      all.filter(({ plane, onBothPlanes }) => plane === 'gateway' || onBothPlanes === true);
    assert.deepEqual(names(gatewayCommands), names(onGateway(commands)));
    assert.deepEqual(names(gatewayQueries), names(onGateway(queries)));
  });
});

describeOnOwnMongoDb(`a node with only the role gateway ${long}`, (mongoDb) => {
  let double: EventStoreDbDoubleProcess;
  let nodes: Nodes;
  let node: ServiceProcess;
  let folder: TemporaryFolder;

  before(async () => {
    folder = temporaryFolder();
    double = await EventStoreDbDoubleProcess.start();
    const stores = { EVENT_STORE_URL: double.url, READ_STORE_URL: mongoDb.newUrl() };
    nodes = new Nodes({ environment: () => stores });
    await nodes.start();
    node = await nodes.start('gateway', {
      NODE_OPTIONS: `--import=${hook}`,
      LOADED_MODULES: join(folder.path, 'modules'),
    });
  });
  after(async () => {
    await nodes?.end();
    await double?.end();
    folder?.remove();
  });

  /** The project's own modules that are loaded so far, by their paths. */
  const loadedModules = () =>
    readFileSync(join(folder.path, 'modules'), 'utf8')
      .split('\n')
      .filter((url) => url.startsWith(`${root}/`) && !url.includes('/node_modules/'))
      .map((url) => url.slice(root.length + 1));

  it('loads no MCP, no dashboard, and no command or query but those of the gateway', async () => {
    assert.equal((await node.client.get('/v1/files')).status, 200);
    assert.equal((await node.client.get('/v1/projects')).status, 404);
    const modules = loadedModules();
    assert.ok(modules.includes('queries/file/list-files.ts'), `${modules.length} modules`);
    assert.deepEqual(
      modules.filter((path) => elsewhere.test(path) && !gatewayFolders.test(path)),
      [],
    );
  });

  it('answers every operation to the tools of its machine, and loads the rest for the first of them', async () => {
    const tool = new HttpClient('http://localhost', { socketPath: join(node.dataDir, 'control.sock') });
    try {
      const answer = await tool.request({
        method: 'GET',
        path: '/v1/projects',
        headers: { authorization: 'Bearer local' },
      });
      assert.equal(answer.statusCode, 200, await answer.body.text());
    } finally {
      await tool.close();
    }
    assert.ok(loadedModules().includes('queries/project/list-projects.ts'));
  });
});
