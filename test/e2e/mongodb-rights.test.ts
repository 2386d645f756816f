import assert from 'node:assert/strict';
import { type UserAction, userActions } from '#mongodb/user-actions.ts';
import { EventStoreDbDoubleProcess } from '#test/support/eventstoredb/double-process.ts';
import { long } from '#test/support/run/long.ts';
import { describeWithUsers, type ServerWithUsers } from '#test/support/service/mongodb-users.ts';
import { ServiceProcess, type TemporaryFolder, temporaryFolder } from '#test/support/service/service-process.ts';
import { expectStatus } from './support/expect.ts';

describeWithUsers('the start of a service whose user of MongoDB has the documented role', (server) => {
  const start = startsWith(server);

  it('ends with one line that names the action that is missing', async () => {
    await endsWithoutAction(start('remove'), 'remove');
  });

  for (const action of userActions.filter((one) => one !== 'remove'))
    it(`ends with one line that names ${action} when it is missing ${long}`, async () => {
      await endsWithoutAction(start(action), action);
    });

  it(`is ready and accepts changes when no action is missing ${long}`, async () => {
    const service = await start(null).listening();
    const { projectId } = (await service.client.get('/v1/me')).body;
    expectStatus(await service.client.post(`/v1/projects/${projectId}/flows`, { name: 'x', flowSchema: {} }), 201);
    assert.equal((await service.stop()).code, 0);
    assert.doesNotMatch(service.stdout, /not authorized|Unauthorized/i);
  });
});

/** Starts services that share a log within a suite, and ends them after each test. */
function startsWith(server: ServerWithUsers): (missing: UserAction | null) => ServiceProcess {
  let double: EventStoreDbDoubleProcess;
  let folder: TemporaryFolder;
  let service: ServiceProcess;
  beforeEach(async () => {
    double = await EventStoreDbDoubleProcess.start();
    folder = temporaryFolder();
  });
  afterEach(async () => {
    await service.kill();
    await double.end();
    folder.remove();
  });
  return (missing) => {
    const environment = { EVENT_STORE_URL: double.url, READ_STORE_URL: server.urlWithout(missing), LOG_LEVEL: 'warn' };
    service = new ServiceProcess({ dataDir: folder.path, environment });
    return service;
  };
}

async function endsWithoutAction(service: ServiceProcess, action: UserAction): Promise<void> {
  const { code } = await service.ended();
  assert.equal(code, 1);
  const lines = `${service.stdout}${service.stderr}`.trim().split('\n');
  assert.equal(lines.length, 1, lines.join('\n'));
  assert.match(lines[0] ?? '', new RegExp(`^switchyard: READ_STORE_URL: .*\\b${action}\\b`));
}
