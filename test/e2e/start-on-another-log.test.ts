import assert from 'node:assert/strict';
import { EventStoreDbDouble } from '#test/support/eventstoredb/eventstoredb-double.ts';
import { long } from '#test/support/run/long.ts';
import { composeService } from '#test/support/service/service-in-process.ts';
import {
  type ServiceEnvironment,
  ServiceProcess,
  type TemporaryFolder,
  temporaryFolder,
} from '#test/support/service/service-process.ts';

describe('a start on an EventStoreDB without streams under the prefix', function () {
  this.timeout(180_000);

  let double: EventStoreDbDouble;
  let folders: TemporaryFolder[];

  beforeEach(async () => {
    double = await EventStoreDbDouble.start();
    folders = [];
  });
  afterEach(async () => {
    await double.kill();
    for (const folder of folders) folder.remove();
  });

  const newFolder = () => {
    const folder = temporaryFolder();
    folders.push(folder);
    return folder.path;
  };

  /** Starts a service, lets it create a log, and ends it. */
  async function beginLog(dataDir: string, environment: ServiceEnvironment): Promise<void> {
    const service = await composeService({ dataDir, environment: { EVENT_STORE_URL: double.url, ...environment } });
    await service.stop();
  }

  /** Asserts that a start ends with one line that names both variables, and creates neither a key nor a stream. */
  async function expectRefused(dataDir: string, environment: ServiceEnvironment, cause: RegExp): Promise<void> {
    const events = double.log.events.length;
    const variables = { EVENT_STORE_URL: double.url, BOOTSTRAP_API_KEY: undefined, ...environment };
    const service = new ServiceProcess({ dataDir, environment: variables });
    try {
      const { code } = await service.ended();
      const said = service.stderr + service.stdout;
      assert.notEqual(code, 0, said);
      assert.match(said, cause);
      assert.match(said, /EVENT_STORE_STREAM_PREFIX/);
      assert.match(said, /EVENT_STORE_URL/);
      assert.doesNotMatch(said, /first admin key/);
      assert.equal(double.log.events.length, events);
    } finally {
      await service.kill();
    }
  }

  it('exits when streams of this service have no prefix, and creates no first key', async () => {
    await beginLog(newFolder(), { EVENT_STORE_STREAM_PREFIX: '' });
    assert.ok(double.log.events.some(({ stream }) => stream.startsWith('apiKey-')));
    await expectRefused(newFolder(), {}, /streams of this service without a prefix/);
  });

  it(`exits when the read store was filled from another log, and creates no first key ${long}`, async () => {
    const dataDir = newFolder();
    await beginLog(dataDir, { EVENT_STORE_STREAM_PREFIX: 'one.' });
    await expectRefused(dataDir, { EVENT_STORE_STREAM_PREFIX: 'other.' }, /the read store was filled from another log/);
    await beginLog(dataDir, { EVENT_STORE_STREAM_PREFIX: 'one.' });
  });
});
