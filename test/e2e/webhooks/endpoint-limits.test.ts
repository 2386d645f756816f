import assert from 'node:assert/strict';
import { Client } from '#test/support/service/client.ts';
import { describeOnEngines } from '#test/support/service/engines.ts';
import { composeService, type ServiceInProcess } from '#test/support/service/service-in-process.ts';
import { temporaryFolder } from '#test/support/service/service-process.ts';
import { WebhookReceiver } from '#test/support/webhooks/webhook-receiver.ts';
import { expectProblem, expectStatus } from '../support/expect.ts';
import { composedService } from '../support/running-service.ts';
import { newHolder, newKey, newOrganization, newProject } from '../support/tenants.ts';
import { allReceived, newEndpoint, newFlow } from './webhook-tenant.ts';

const code = 'too-many-webhook-endpoints';
const environment = { WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true', READ_YOUR_WRITES_TIMEOUT_MS: '60000' };

const create = (client: Client) => client.post('/v1/webhook-endpoints', { url: 'http://127.0.0.1:9', eventTypes: [] });
const endpointsOf = async (client: Client) =>
  expectStatus(await client.get<{ webhookEndpoints: Array<{ id: string }> }>('/v1/webhook-endpoints?limit=1000'), 200)
    .webhookEndpoints;

const [limit, atOnce] = [100, 130];

describeOnEngines('the limit of webhook endpoints, with the default of 100 for a project', (engines) => {
  const running = composedService(engines, environment);

  it('leaves exactly the limit of many creations at the same time, and a deletion makes room for one', async () => {
    const { key } = await newKey(running.client, await newProject(running.client), 'project');
    // A client has 64 connections.
    const clients = Array.from({ length: Math.ceil(atOnce / 64) }, () => new Client(running.url, key));
    const client = clients[0] ?? assert.fail();
    const senders = Array.from({ length: atOnce }, (_, index) => clients[index % clients.length] ?? client);
    const replies = await Promise.all(senders.map((sender) => create(sender)));
    const refused = replies.filter(({ status }) => status !== 201);
    // On a busy machine, a creation may wait for its turn too long.
    for (const reply of refused) if (reply.status !== 503) expectProblem(reply, 409, code);
    for (const { status } of refused) if (status === 503) await create(client);
    const shown = await endpointsOf(client);
    assert.equal(shown.length, limit);
    expectStatus(await client.remove(`/v1/webhook-endpoints/${shown[0]?.id}`), 200);
    expectStatus(await create(client), 201);
    expectProblem(await create(client), 409, code);
    for (const each of clients) await each.close();
  });
});

describeOnEngines('lowered limits of webhook endpoints', (engines) => {
  const folder = temporaryFolder();
  const receiver = new WebhookReceiver();
  let service: ServiceInProcess;

  const start = async (perProject: number, perOrganization: number): Promise<Client> => {
    service = await composeService({
      dataDir: folder.path,
      environment: {
        ...engines.environment(),
        ...environment,
        MAX_WEBHOOK_ENDPOINTS_PER_PROJECT: String(perProject),
        MAX_WEBHOOK_ENDPOINTS_PER_ORGANIZATION: String(perOrganization),
      },
    });
    return service.client;
  };
  before(() => receiver.start());
  after(async () => {
    await service?.stop();
    await receiver.close();
    folder.remove();
  });

  it('keeps the endpoints beyond them, which still change and deliver', async () => {
    const first = await start(3, 3);
    const projectId = await newProject(first, await newOrganization(first, false));
    const { key } = await newKey(first, projectId, 'project');
    const paths = ['/one', '/two', '/three'];
    const endpoints: string[] = [];
    for (const path of paths) endpoints.push(await newEndpoint(first.as(key), receiver.url + path));
    expectProblem(await create(first.as(key)), 409, code);
    await service.stop();

    const client = (await start(1, 2)).as(key);
    assert.equal((await endpointsOf(client)).length, 3);
    expectProblem(await create(client), 409, code);
    const path = `/v1/webhook-endpoints/${endpoints[0]}`;
    for (const status of ['disabled', 'enabled']) expectStatus(await client.patch(path, { status }), 200);
    const flowId = await newFlow(client, projectId);
    for (const each of paths) await allReceived(receiver, each, [flowId]);
    for (const id of endpoints.slice(1)) expectStatus(await client.remove(`/v1/webhook-endpoints/${id}`), 200);
    expectProblem(await create(client), 409, code);
    const organization = await newHolder(service.client, projectId, 'organization');
    expectStatus(await create(organization), 201);
    expectProblem(await create(organization), 409, code);
  });

  it('are ten times as many for a partner with all its customers', async () => {
    const admin = service.client;
    const partner = await newHolder(admin, await newProject(admin, await newOrganization(admin, true)), 'partner');
    const customers = await Promise.all(
      Array.from({ length: 11 }, async (_, index) => {
        const body = { name: `Customer ${index}`, clientEmail: `customer${index}@example.com` };
        const reply = await partner.post<{ projectId: string }>('/v1/partner/customers', body);
        return newHolder(partner, expectStatus(reply, 201).projectId, 'organization');
      }),
    );
    const of = (count: number) => customers.slice(0, count).flatMap((customer) => [customer, customer]);
    const replies = await Promise.all([...of(10), partner].map((client) => create(client)));
    const refused = replies.filter(({ status }) => status !== 201);
    assert.equal(refused.length, 1);
    for (const reply of refused) expectProblem(reply, 409, code);
    const last = customers.at(-1) ?? assert.fail();
    const detail = 'The partner and its customers have 20 webhook endpoints';
    const reply = await create(last);
    expectProblem(reply, 409, code);
    assert.ok(reply.text.includes(detail), reply.text);
  });
});
