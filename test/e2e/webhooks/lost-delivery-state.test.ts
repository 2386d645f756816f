import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { MongoClient } from 'mongodb';
import { eventually } from '#test/support/run/eventually.ts';
import { long } from '#test/support/run/long.ts';
import { describeOnEngines, type Engines, SharedEngines } from '#test/support/service/engines.ts';
import { type ServiceProcess, startService, temporaryFolder } from '#test/support/service/service-process.ts';
import { entryOf, WebhookReceiver } from '#test/support/webhooks/webhook-receiver.ts';
import { expectStatus } from '../support/expect.ts';
import { newKey, newProject } from '../support/tenants.ts';
import { allReceived, newEndpoint, newFlow, resourcesAt, shownDelivery } from './webhook-tenant.ts';

describeOnEngines('webhooks whose delivery state is lost', (engines) => {
  const folder = temporaryFolder();
  const receiver = new WebhookReceiver();
  let service: ServiceProcess;

  const start = async () => {
    const environment = {
      ...engines.environment(),
      WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true',
      READ_YOUR_WRITES_TIMEOUT_MS: '60000',
      LOG_LEVEL: 'warn',
    };
    service = await startService({ dataDir: folder.path, environment });
    return service.client;
  };
  before(() => receiver.start());
  after(async () => {
    await service?.kill();
    await receiver.close();
    folder.remove();
  });

  it(`continues at the end of the log, reports that in a log line and in the endpoint, and replays missing events ${long}`, async () => {
    const admin = await start();
    const projectId = await newProject(admin);
    const { key } = await newKey(admin, projectId, 'project');
    const before = admin.as(key);
    const path = '/lost';
    const endpointId = await newEndpoint(before, receiver.url + path);
    const delivered = await newFlow(before, projectId, 'Delivered');
    await allReceived(receiver, path, [delivered]);
    receiver.answer = (response) => response.writeHead(500).end();
    const missed = await newFlow(before, projectId, 'Missed');
    await allReceived(receiver, path, [missed]);
    const { beganAtEndAt } = await shownDelivery(before, endpointId, ({ openMessages }) => openMessages === 1);
    assert.equal(beganAtEndAt, null);
    await service.stop();

    await forgetDeliveries(engines, folder.path);
    receiver.answer = (response) => response.writeHead(204).end();
    receiver.messages.length = 0;
    const client = (await start()).as(key);
    const shown = await shownDelivery(client, endpointId, (delivery) => delivery.beganAtEndAt !== null);
    assert.equal(shown.openMessages, 0);
    assert.ok(Date.parse(shown.beganAtEndAt ?? '') <= Date.now());
    const line = await eventually(
      () =>
        service.stdout
          .split('\n')
          .find((each) => each.includes('The delivery position of a webhook endpoint is lost') && each.endsWith('}')) ??
        null,
      'the log has a line',
    );
    const { level, webhookEndpoint, position } = JSON.parse(line);
    assert.deepEqual([level, webhookEndpoint], ['warn', endpointId]);
    const after = await newFlow(client, projectId, 'After');
    await allReceived(receiver, path, [after]);
    assert.deepEqual(resourcesAt(receiver, path), [after]);
    assert.ok(receiver.at(path).every((message) => entryOf(message).position > position));

    expectStatus(await client.post(`/v1/webhook-endpoints/${endpointId}/replay`, { after: 0 }), 200);
    await allReceived(receiver, path, [delivered, missed, after]);
  });
});

/** Deletes the delivery state of a stopped service. */
async function forgetDeliveries(engines: Engines, dataDir: string): Promise<void> {
  if (!(engines instanceof SharedEngines)) {
    const database = new DatabaseSync(join(dataDir, 'records.db'));
    const { changes } = database.prepare("DELETE FROM records WHERE kind = 'webhook-deliveries'").run();
    database.close();
    assert.ok(changes > 0);
    return;
  }
  const client = await MongoClient.connect(engines.urls.readStoreUrl);
  try {
    const { deletedCount } = await client.db().collection('records.webhook-deliveries').deleteMany({});
    assert.ok(deletedCount > 0);
  } finally {
    await client.close();
  }
}
