import assert from 'node:assert/strict';
import { copyFileSync, cpSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expectStatus } from '#test/e2e/support/expect.ts';
import { long } from '#test/support/run/long.ts';
import {
  type ServiceProcess,
  startService,
  type TemporaryFolder,
  temporaryFolder,
} from '#test/support/service/service-process.ts';

type Named = { readonly id: string };

/** Creates flows in the project of the admin key. @returns their ids */
async function createFlows({ client }: ServiceProcess, count: number): Promise<ReadonlyArray<string>> {
  const { projectId } = (await client.get('/v1/me')).body;
  const ids: string[] = [];
  for (let number = 0; number < count; number += 1) {
    const made = await client.post<Named>(`/v1/projects/${projectId}/flows`, { name: 'Flow', flowSchema: {} });
    ids.push(expectStatus(made, 201).id);
  }
  return ids;
}

/** The statuses of reads of flows. */
async function statusesOf({ client }: ServiceProcess, flows: ReadonlyArray<string>): Promise<ReadonlyArray<number>> {
  return Promise.all(flows.map(async (id) => (await client.get(`/v1/flows/${id}`)).status));
}

describe('a start on an embedded log that was restored from a backup', function () {
  this.timeout(120_000);
  let folders: ReadonlyArray<TemporaryFolder>;
  let service: ServiceProcess;

  beforeEach(() => {
    folders = [temporaryFolder(), temporaryFolder()];
  });
  afterEach(async () => {
    await service.kill();
    for (const folder of folders) folder.remove();
  });

  const start = async (dataDir: string) => {
    service = await startService({ dataDir, environment: { LOG_LEVEL: 'warn' } });
  };

  it(`shows what is in the log and nothing else, although the log has grown past the read models ${long}`, async () => {
    const [dataDir = '', other = ''] = folders.map(({ path }) => path);
    await start(dataDir);
    const early = await createFlows(service, 2);
    await service.stop();
    rmSync(other, { recursive: true });
    cpSync(dataDir, other, { recursive: true });
    await start(dataDir);
    const lost = await createFlows(service, 3);
    await service.stop();

    // The backup is used elsewhere, and then comes back next to the newer read models.
    await start(other);
    const late = await createFlows(service, 6);
    await service.stop();
    for (const file of readdirSync(dataDir)) if (file.startsWith('events.db')) rmSync(join(dataDir, file));
    copyFileSync(join(other, 'events.db'), join(dataDir, 'events.db'));

    await start(dataDir);
    assert.deepEqual(await statusesOf(service, early), [200, 200]);
    assert.deepEqual(await statusesOf(service, lost), [404, 404, 404]);
    assert.deepEqual(await statusesOf(service, late), [200, 200, 200, 200, 200, 200]);
    assert.match(service.stdout, /The log no longer has events that the read models were made from/);
    await service.stop();
    await start(dataDir);
    assert.doesNotMatch(service.stdout, /no longer has events/);
  });
});
