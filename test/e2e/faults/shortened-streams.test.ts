import assert from 'node:assert/strict';
import { EventStoreDBClient, type StreamMetadata } from '@eventstore/db-client';
import { defaultStreamPrefix } from '#app/store-config.ts';
import { expectProblem, expectStatus } from '#test/e2e/support/expect.ts';
import { EventStoreDbDouble } from '#test/support/eventstoredb/eventstoredb-double.ts';
import { eventually } from '#test/support/run/eventually.ts';
import { composeService, type ServiceInProcess } from '#test/support/service/service-in-process.ts';
import { type TemporaryFolder, temporaryFolder } from '#test/support/service/service-process.ts';

const number = '+442071838750';

describe('streams that an operator of EventStoreDB has shortened, deleted or closed', function () {
  this.timeout(120_000);
  let folder: TemporaryFolder;
  let double: EventStoreDbDouble;
  let client: EventStoreDBClient;
  let service: ServiceInProcess;
  let project: string;
  const flows = new Map<string, string>();

  const onServer = (stream: string) => `${defaultStreamPrefix}${stream}`;
  const createFlow = (name: string) =>
    service.client.post(
      `/v1/projects/${project}/flows`,
      { name, flowSchema: { say: 'hello' } },
      { 'idempotency-key': name },
    );
  const createPhoneNumber = (name: string) =>
    service.client.post(`/v1/projects/${project}/phone-numbers`, { name, number });

  before(async () => {
    folder = temporaryFolder();
    double = await EventStoreDbDouble.start();
    client = EventStoreDBClient.connectionString(double.url);
    const environment = { EVENT_STORE_URL: double.url };
    service = await composeService({ dataDir: folder.path, environment });
    project = String((await service.client.get('/v1/me')).body.projectId);
    for (const name of ['$tb', '$maxCount', '$maxAge', 'soft-deleted', 'tombstoned']) {
      const id = String((await createFlow(name)).body.id);
      expectStatus(await service.client.patch(`/v1/flows/${id}`, { name: `${name}!` }), 200);
      flows.set(name, id);
    }
    expectStatus(await createPhoneNumber('first'), 201);
    const limits: ReadonlyArray<[name: string, metadata: StreamMetadata]> = [
      ['$tb', { truncateBefore: 2 }],
      ['$maxCount', { maxCount: 2 }],
      ['$maxAge', { maxAge: 1 }],
    ];
    for (const [name, metadata] of limits)
      await client.setStreamMetadata(onServer(`flow-${flows.get(name)}`), metadata);
    await client.deleteStream(onServer(`flow-${flows.get('soft-deleted')}`));
    await client.tombstoneStream(onServer(`flow-${flows.get('tombstoned')}`));
    for (const { stream } of [...double.log.events])
      if (stream.startsWith(onServer('phoneNumberClaim-'))) await client.deleteStream(stream);
    double.now = () => Date.now() + 60_000;
    // A service that starts has no states in memory.
    await service.stop();
    service = await composeService({ dataDir: folder.path, environment });
  });

  after(async () => {
    await service.stop();
    await client.dispose();
    await double.kill();
    folder.remove();
  });

  const errorsAbout = (name: string) =>
    service.log
      .split('\n')
      .filter((line) => line.includes('"level":"error"') && line.includes(String(flows.get(name))));

  for (const name of ['$tb', '$maxCount', '$maxAge', 'soft-deleted', 'tombstoned']) {
    it(`refuses each change of a flow whose stream is shortened (${name}), names the operator, and logs it once`, async () => {
      const flow = `/v1/flows/${flows.get(name)}`;
      const refused = [
        await service.client.patch(flow, { name: 'another' }),
        await service.client.remove(flow),
        await service.client.get(`${flow}/history`),
        await service.client.get(`${flow}?asOf=1`),
        await createFlow(name),
      ];
      for (const answer of refused) {
        expectProblem(answer, 503, 'stream-unreadable');
        assert.match(String(answer.body.detail), /Nothing was changed\. Tell the operator\.$/);
        assert.equal(answer.headers['retry-after'], '3600');
      }
      await eventually(() => errorsAbout(name).length > 0, 'it is logged');
      assert.equal(errorsAbout(name).length, 1, errorsAbout(name).join('\n'));
      assert.match(errorsAbout(name)[0] ?? '', /"firstRevision":(1|2|null)/);
    });
  }

  it('shows such a flow from its read model', async () => {
    const flow = expectStatus(await service.client.get(`/v1/flows/${flows.get('$tb')}`), 200);
    assert.equal(flow.name, '$tb!');
  });

  it('gives the number of a deleted claim to nobody else, and stores nothing', async () => {
    const before = double.log.events.length;
    const refused = await createPhoneNumber('second');
    expectProblem(refused, 503, 'stream-unreadable');
    assert.match(String(refused.body.detail), /phoneNumberClaim-.*soft delete/);
    const stored = double.log.events.slice(before).filter(({ stream }) => stream.includes('phoneNumber'));
    assert.deepEqual(stored, []);
  });

  it('changes a flow again as soon as the limit of its stream is gone', async () => {
    await client.setStreamMetadata(onServer(`flow-${flows.get('$tb')}`), {});
    expectStatus(await service.client.patch(`/v1/flows/${flows.get('$tb')}`, { name: 'whole' }), 200);
  });
});
