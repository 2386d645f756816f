import assert from 'node:assert/strict';
import { eventually } from '#test/support/run/eventually.ts';
import { long } from '#test/support/run/long.ts';
import type { Client } from '#test/support/service/client.ts';
import { describeOnSharedEngines } from '#test/support/service/engines.ts';
import { Nodes } from '#test/support/service/nodes.ts';
import type { ServiceProcess } from '#test/support/service/service-process.ts';
import { entryOf, WebhookReceiver } from '#test/support/webhooks/webhook-receiver.ts';
import { newKey, newProject } from '../support/tenants.ts';
import { allReceived, newEndpoint, newFlow, resourcesAt, shownDelivery } from './webhook-tenant.ts';

const environment = {
  WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true',
  LOG_LEVEL: 'info',
  READ_YOUR_WRITES_TIMEOUT_MS: '60000',
};

describeOnSharedEngines('webhooks of two nodes', (engines) => {
  const nodes = new Nodes(engines);
  const receiver = new WebhookReceiver();
  let running: ServiceProcess[];
  let key: string;
  let projectId: string;
  let paths = 0;

  before(() => receiver.start());
  after(() => receiver.close());
  beforeEach(async function () {
    this.timeout(180_000);
    receiver.messages.length = 0;
    running = [nodes.begin(undefined, environment), nodes.begin(undefined, environment)];
    await Promise.all(running.map((node) => node.listening()));
    const admin = running[0]?.client ?? assert.fail();
    projectId = await newProject(admin);
    ({ key } = await newKey(admin, projectId, 'project'));
  });
  afterEach(() => nodes.end());

  /** The node that delivers, and the other one. */
  async function roles(): Promise<{ readonly delivering: ServiceProcess; readonly waiting: ServiceProcess }> {
    const delivering = await eventually(
      () =>
        running.toSorted((one, other) => leaseToken(other) - leaseToken(one)).find((node) => leaseToken(node) > 0) ??
        null,
      'a node delivers',
    );
    return { delivering, waiting: running.find((node) => node !== delivering) ?? assert.fail() };
  }

  /** Creates an endpoint with a slow receiver, and writes flows through a node. */
  async function beginFlows(client: Client) {
    paths += 1;
    const path = `/nodes/${paths}`;
    receiver.answer = (response) => setTimeout(() => response.writeHead(204).end(), 50);
    const endpointId = await newEndpoint(client, receiver.url + path);
    const flows: string[] = [];
    const write = async (count: number) => {
      for (let number = 0; number < count; number += 1) flows.push(await newFlow(client, projectId, `Flow ${number}`));
    };
    return { path, endpointId, flows, write };
  }

  /** Asserts that every event arrived, and that repetitions have the same id. */
  async function assertNoneLost(client: Client, { path, endpointId, flows }: Awaited<ReturnType<typeof beginFlows>>) {
    await allReceived(receiver, path, flows);
    const { beganAtEndAt } = await shownDelivery(client, endpointId, ({ openMessages }) => openMessages === 0);
    assert.equal(beganAtEndAt, null);
    assert.deepEqual(new Set(resourcesAt(receiver, path)), new Set(flows));
    const messages = receiver.at(path);
    const pairs = new Set(messages.map((each) => `${each.headers['webhook-id']} ${entryOf(each).resource.id}`));
    assert.equal(pairs.size, flows.length);
  }

  it('loses no message when the delivering node is killed', async () => {
    const { delivering, waiting } = await roles();
    const client = waiting.client.as(key);
    const flows = await beginFlows(client);
    const written = flows.write(20);
    await eventually(() => receiver.at(flows.path).length > 3, 'some messages have come');
    await delivering.kill();
    await written;
    await flows.write(5);
    await assertNoneLost(client, flows);
    assert.ok(leaseToken(waiting) > leaseToken(delivering));
  });

  it(`loses no message when the delivering node is stopped ${long}`, async () => {
    const { delivering, waiting } = await roles();
    const client = waiting.client.as(key);
    const flows = await beginFlows(client);
    const written = flows.write(20);
    await eventually(() => receiver.at(flows.path).length > 3, 'some messages have come');
    await delivering.stop();
    await written;
    await assertNoneLost(client, flows);
  });

  it(`loses no message when the delivering node is frozen past its lease and wakes up ${long}`, async () => {
    const { delivering, waiting } = await roles();
    const client = waiting.client.as(key);
    const flows = await beginFlows(client);
    const written = flows.write(20);
    await eventually(() => receiver.at(flows.path).length > 3, 'some messages have come');
    delivering.freeze();
    await eventually(() => leaseToken(waiting) > leaseToken(delivering), 'the other node delivers');
    await written;
    delivering.thaw();
    await flows.write(5);
    await assertNoneLost(client, flows);
  });
});

/** The newest token under which a node has delivered webhooks; 0 before. */
function leaseToken(node: ServiceProcess): number {
  const lines = node.stdout.split('\n').filter((line) => line.includes('"lease":"webhooks"'));
  const begun = lines.filter((line) => line.includes('This node holds the lease')).at(-1);
  return Number(/"token":(\d+)/.exec(begun ?? '')?.[1] ?? 0);
}
