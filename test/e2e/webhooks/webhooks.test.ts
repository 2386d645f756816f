import assert from 'node:assert/strict';
import { Webhook } from 'standardwebhooks';
import { eventually } from '#test/support/run/eventually.ts';
import type { Client } from '#test/support/service/client.ts';
import { describeOnEngines } from '#test/support/service/engines.ts';
import { entryOf, type ReceivedMessage, WebhookReceiver } from '#test/support/webhooks/webhook-receiver.ts';
import { expectProblem, expectStatus } from '../support/expect.ts';
import { runningService } from '../support/running-service.ts';
import { newHolder, newKey, newOrganization, newProject } from '../support/tenants.ts';

type Endpoint = { readonly id: string; readonly secret: string; readonly status: string };
type Delivery = {
  readonly messageId: string;
  readonly type: string;
  readonly outcome: string;
  readonly error: string | null;
};

const typesOf = (messages: ReadonlyArray<ReceivedMessage>) => messages.map((message) => entryOf(message).type);

describeOnEngines('webhooks', (engines) => {
  const running = runningService(engines, { WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true', WEBHOOK_TIMEOUT_MS: '1000' });
  const receiver = new WebhookReceiver();
  let projects = 0;

  before(() => receiver.start());
  after(() => receiver.close());
  afterEach(() => {
    receiver.answer = (response) => response.writeHead(204).end();
  });

  /** Returns a client of a new project. */
  const newTenant = async (): Promise<{ client: Client; projectId: string; path: string }> => {
    const projectId = await newProject(running.client);
    projects += 1;
    return { client: await newHolder(running.client, projectId, 'project'), projectId, path: `/hooks/${projects}` };
  };
  const newEndpoint = async (client: Client, path: string, eventTypes: ReadonlyArray<string> = []): Promise<Endpoint> =>
    expectStatus(await client.post<Endpoint>('/v1/webhook-endpoints', { url: receiver.url + path, eventTypes }), 201);
  const createFlow = async (client: Client, projectId: string, name = 'Hours'): Promise<string> => {
    const reply = await client.post<{ id: string }>(`/v1/projects/${projectId}/flows`, { name, flowSchema: {} });
    return expectStatus(reply, 201).id;
  };
  const received = (path: string, count: number) =>
    eventually(async () => (receiver.at(path).length >= count ? receiver.at(path) : null));
  const deliveriesOf = async (client: Client, id: string): Promise<ReadonlyArray<Delivery>> =>
    expectStatus(await client.get<{ deliveries: Delivery[] }>(`/v1/webhook-endpoints/${id}/deliveries`), 200)
      .deliveries;

  it('delivers signed events in the form of the audit', async () => {
    const { client, projectId, path } = await newTenant();
    const { secret } = await newEndpoint(client, path);
    await createFlow(client, projectId);
    const messages = await received(path, 3);
    // The service sends eight messages at a time.
    assert.deepEqual(typesOf(messages).toSorted(), ['FlowCreated', 'FlowVersionActivated', 'FlowVersionCreated']);
    for (const { headers, body } of messages) {
      assert.deepEqual(new Webhook(secret).verify(body, headers as Record<string, string>), JSON.parse(body));
      assert.equal(headers['content-type'], 'application/json');
    }
    const audit = await client.get<{ entries: object[] }>('/v1/audit');
    const byPosition = (one: { position: number }, other: { position: number }) => other.position - one.position;
    const { entries } = expectStatus(audit, 200);
    assert.deepEqual(entries.slice(0, 3), messages.map(entryOf).toSorted(byPosition));
  });

  it('sends only the types that an endpoint accepts', async () => {
    const { client, projectId, path } = await newTenant();
    await newEndpoint(client, path, ['FlowRenamed']);
    const flowId = await createFlow(client, projectId);
    expectStatus(await client.patch(`/v1/flows/${flowId}`, { name: 'Other' }), 200);
    await received(path, 1);
    assert.deepEqual(typesOf(receiver.at(path)), ['FlowRenamed']);
  });

  it('retries a failed delivery with the same webhook-id, and lists both tries', async () => {
    const { client, projectId, path } = await newTenant();
    const { id } = await newEndpoint(client, path, ['FlowCreated']);
    receiver.answer = (response, message) => {
      response.writeHead(receiver.at(message.path).length === 1 ? 500 : 200).end('thanks');
    };
    await createFlow(client, projectId);
    const [first, second] = await received(path, 2);
    assert.equal(first?.headers['webhook-id'], second?.headers['webhook-id']);
    const deliveries = await eventually(async () => {
      const listed = await deliveriesOf(client, id);
      return listed.length >= 2 ? listed : null;
    });
    assert.deepEqual(
      deliveries.map(({ messageId, outcome, error }) => [messageId, outcome, error]),
      [
        [first?.headers['webhook-id'], 'delivered', null],
        [first?.headers['webhook-id'], 'failed', 'status'],
      ],
    );
    const metrics = await (await fetch(`${running.url}/metrics`)).text();
    assert.match(metrics, /^switchyard_webhook_tries_total\{outcome="failed",error_type="status"\} \d+$/m);
    assert.match(metrics, /^switchyard_webhook_tries_total\{outcome="delivered",error_type=""\} \d+$/m);
  });

  it('counts a redirect, a hanging receiver and a closed connection as failures, and follows no redirect', async () => {
    const answers = {
      redirect: (response) => response.writeHead(307, { location: `${receiver.url}/elsewhere` }).end(),
      timeout: () => undefined,
      connection: (response) => response.destroy(),
    } satisfies Record<string, WebhookReceiver['answer']>;
    for (const [error, answer] of Object.entries(answers)) {
      const { client, projectId, path } = await newTenant();
      receiver.answer = answer;
      const { id } = await newEndpoint(client, path, ['FlowCreated']);
      await createFlow(client, projectId);
      const [failed] = await eventually(async () => {
        const listed = await deliveriesOf(client, id);
        return listed.length > 0 ? listed : null;
      });
      assert.deepEqual([failed?.outcome, failed?.error], ['failed', error]);
      expectStatus(await client.remove(`/v1/webhook-endpoints/${id}`), 200);
    }
    assert.deepEqual(receiver.at('/elsewhere'), []);
  });

  it('disables an endpoint whose receiver answers 410, and delivers missing events once the endpoint is enabled', async () => {
    const { client, projectId, path } = await newTenant();
    const { id } = await newEndpoint(client, path, ['FlowCreated']);
    receiver.answer = (response) => response.writeHead(410).end();
    const flowId = await createFlow(client, projectId);
    const read = async () =>
      expectStatus(await client.get<Endpoint & { disabledReason: string }>(`/v1/webhook-endpoints/${id}`), 200);
    const { disabledReason } = await eventually(async () => {
      const endpoint = await read();
      return endpoint.status === 'disabled' ? endpoint : null;
    });
    assert.equal(disabledReason, 'gone');
    const history = await client.get<{ events: { type: string; summary: string }[] }>(
      `/v1/webhook-endpoints/${id}/history`,
    );
    assert.match(expectStatus(history, 200).events.at(-1)?.summary ?? '', /its receiver answered 410/);
    receiver.answer = (response) => response.writeHead(204).end();
    expectStatus(await client.patch(`/v1/webhook-endpoints/${id}`, { status: 'enabled' }), 200);
    const messages = await received(path, 2);
    assert.deepEqual(
      messages.map((message) => entryOf(message).resource.id),
      [flowId, flowId],
    );
  });

  it('refuses tests while eight tries of the endpoint run, also of requests at the same time', async () => {
    const { client, path } = await newTenant();
    const { id } = await newEndpoint(client, path);
    const waiting: Array<() => void> = [];
    receiver.answer = (response) => waiting.push(() => response.writeHead(204).end());
    const replies = await Promise.all(
      Array.from({ length: 12 }, () => client.post(`/v1/webhook-endpoints/${id}/test`, {})),
    );
    const statuses = replies.map(({ status }) => status).toSorted();
    assert.deepEqual(statuses, [...Array.from({ length: 8 }, () => 200), ...Array.from({ length: 4 }, () => 429)]);
    await received(path, 8);
    for (const end of waiting) end();
    receiver.answer = (response) => response.writeHead(204).end();
    await eventually(async () => {
      const { status } = await client.post(`/v1/webhook-endpoints/${id}/test`, {});
      return status === 200 ? true : null;
    });
    await received(path, 9);
  });

  it('signs with both secrets after a rotation', async () => {
    const { client, path } = await newTenant();
    const { id, secret } = await newEndpoint(client, path, ['FlowCreated']);
    const rotated = expectStatus(await client.post<Endpoint>(`/v1/webhook-endpoints/${id}/rotate-secret`, {}), 200);
    assert.notEqual(rotated.secret, secret);
    expectStatus(await client.post(`/v1/webhook-endpoints/${id}/test`, {}), 200);
    const [message] = await received(path, 1);
    assert.ok(message !== undefined);
    assert.deepEqual(typesOf([message]), ['WebhookTestRequested']);
    for (const each of [secret, rotated.secret]) {
      new Webhook(each).verify(message.body, message.headers as Record<string, string>);
    }
  });

  it('sends only tests to a disabled endpoint, and missed events once the endpoint is enabled', async () => {
    const { client, projectId, path } = await newTenant();
    const { id } = await newEndpoint(client, path, ['FlowCreated']);
    expectStatus(await client.patch(`/v1/webhook-endpoints/${id}`, { status: 'disabled' }), 200);
    await createFlow(client, projectId);
    expectStatus(await client.post(`/v1/webhook-endpoints/${id}/test`, {}), 200);
    await received(path, 1);
    assert.deepEqual(typesOf(receiver.at(path)), ['WebhookTestRequested']);
    expectStatus(await client.patch(`/v1/webhook-endpoints/${id}`, { status: 'enabled' }), 200);
    await received(path, 2);
    assert.deepEqual(typesOf(receiver.at(path)), ['WebhookTestRequested', 'FlowCreated']);
  });

  it('delivers all events after a position again with the same webhook-id, even those before the endpoint', async () => {
    const { client, projectId, path } = await newTenant();
    const before = await createFlow(client, projectId, 'Before');
    const { id } = await newEndpoint(client, path, ['FlowCreated']);
    const after = await createFlow(client, projectId, 'After');
    const [first] = await received(path, 1);
    expectStatus(await client.post(`/v1/webhook-endpoints/${id}/replay`, { after: 0 }), 200);
    const all = await received(path, 3);
    assert.deepEqual(all.map((message) => entryOf(message).resource.id).toSorted(), [after, after, before].toSorted());
    const again = all.slice(1).find((message) => entryOf(message).resource.id === after);
    assert.equal(again?.headers['webhook-id'], first?.headers['webhook-id']);
  });

  it('shows the progress of the delivery', async () => {
    const { client, projectId, path } = await newTenant();
    const { id } = await newEndpoint(client, path, ['FlowCreated']);
    await createFlow(client, projectId);
    const [message] = await received(path, 1);
    assert.ok(message !== undefined);
    const { position } = entryOf(message);
    const delivery = await eventually(async () => {
      const reply = await client.get<{ delivery: { position: number; openMessages: number } | null }>(
        `/v1/webhook-endpoints/${id}`,
      );
      const { delivery: shown } = expectStatus(reply, 200);
      return (shown?.position ?? 0) >= position && shown?.openMessages === 0 ? shown : null;
    });
    assert.equal('beganAtEndAt' in delivery, true);
  });

  it('delivers each tenant only its own events, and a partner also those of its customers', async () => {
    const partner = await newHolder(
      running.client,
      await newProject(running.client, await newOrganization(running.client, true)),
      'partner',
    );
    const made = await partner.post<{ organizationId: string; projectId: string }>('/v1/partner/customers', {
      name: 'Harbour Dental',
      clientEmail: 'office@example.com',
    });
    const { projectId, organizationId } = expectStatus(made, 201);
    const customer = await newHolder(partner, projectId, 'organization');
    const stranger = await newTenant();
    await newEndpoint(partner, '/tenancy/partner', ['FlowCreated']);
    await newEndpoint(customer, '/tenancy/customer', ['FlowCreated']);
    await newEndpoint(stranger.client, '/tenancy/stranger', ['FlowCreated']);
    const ofCustomer = await createFlow(customer, projectId);
    const ofStranger = await createFlow(stranger.client, stranger.projectId);
    await Promise.all(['partner', 'customer', 'stranger'].map((name) => received(`/tenancy/${name}`, 1)));
    const flowsAt = (name: string) => receiver.at(`/tenancy/${name}`).map((message) => entryOf(message).resource.id);
    assert.deepEqual(flowsAt('partner'), [ofCustomer]);
    assert.deepEqual(flowsAt('customer'), [ofCustomer]);
    assert.deepEqual(flowsAt('stranger'), [ofStranger]);
    assert.notEqual(organizationId, '');
  });

  it('conceals an endpoint from other tenants', async () => {
    const { client, path } = await newTenant();
    const { id } = await newEndpoint(client, path);
    const { client: other } = await newTenant();
    for (const reply of [
      await other.get(`/v1/webhook-endpoints/${id}`),
      await other.get(`/v1/webhook-endpoints/${id}/deliveries`),
      await other.post(`/v1/webhook-endpoints/${id}/test`, {}),
    ]) {
      expectProblem(reply, 404, 'webhook-endpoint-not-found');
    }
    const reply = await other.get<{ webhookEndpoints: Endpoint[] }>('/v1/webhook-endpoints');
    assert.deepEqual(expectStatus(reply, 200).webhookEndpoints, []);
  });

  it('keeps the endpoint of a partner key from organization keys of the same organization', async () => {
    const projectId = await newProject(running.client, await newOrganization(running.client, true));
    const partner = await newHolder(running.client, projectId, 'partner');
    const organization = await newHolder(running.client, projectId, 'organization');
    const { id } = await newEndpoint(partner, '/of-partner');
    const path = `/v1/webhook-endpoints/${id}`;
    expectProblem(await organization.patch(path, { url: `${receiver.url}/taken` }), 403, 'key-type-not-allowed');
    expectProblem(await organization.post(`${path}/rotate-secret`, {}), 403, 'key-type-not-allowed');
    expectProblem(await organization.get(`${path}/deliveries`), 403, 'key-type-not-allowed');
  });

  it('disables the endpoints of a key that is revoked with its descendants', async () => {
    const projectId = await newProject(running.client);
    const { id: keyId, key } = await newKey(running.client, projectId, 'project');
    const { id } = await newEndpoint(running.client.as(key), '/revoked');
    expectStatus(await running.client.remove(`/v1/keys/${keyId}?descendants=true`), 200);
    await eventually(async () => {
      const reply = await running.client.get<Endpoint>(`/v1/webhook-endpoints/${id}`);
      return expectStatus(reply, 200).status === 'disabled' ? true : null;
    });
  });

  it('loses no message when the service is killed', async () => {
    const { client, projectId, path } = await newTenant();
    await newEndpoint(client, path, ['FlowCreated']);
    receiver.answer = (response) => setTimeout(() => response.writeHead(204).end(), 20);
    const flows: string[] = [];
    for (let count = 0; count < 20; count += 1) flows.push(await createFlow(client, projectId, `Flow ${count}`));
    const restarted = await running.restarted();
    flows.push(await createFlow(restarted, projectId, 'After'));
    const ids = () => new Set(receiver.at(path).map((message) => entryOf(message).resource.id));
    await eventually(async () => (flows.every((id) => ids().has(id)) ? true : null));
  });
});
