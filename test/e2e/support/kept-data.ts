import assert from 'node:assert/strict';
import { allReceived, newEndpoint, newFlow, resourcesAt, shownDelivery } from '#test/e2e/webhooks/webhook-tenant.ts';
import { eventually } from '#test/support/run/eventually.ts';
import type { Client } from '#test/support/service/client.ts';
import { adminKey, type ServiceProcess } from '#test/support/service/service-process.ts';
import type { WebhookReceiver } from '#test/support/webhooks/webhook-receiver.ts';
import { expectStatus } from './expect.ts';
import { newKey, newProject } from './tenants.ts';

type Response = { readonly id: string; readonly previous_response_id: string | null };
type Usage = { readonly rows: ReadonlyArray<{ readonly calls: number }> };

/** The variables of a service that stores the data. */
export const keptDataEnvironment = { WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true' };

const ofPage = { 'switchyard-session': '1' };
const callId = 'kept-call';

/** Something of each kind that a service stores, for a later service on the same data. */
export class KeptData {
  readonly #receiver: WebhookReceiver;
  readonly #key: string;
  readonly #ids: Readonly<Record<'project' | 'flow' | 'endpoint' | 'response', string>>;
  readonly #cookie: string;

  private constructor(
    receiver: WebhookReceiver,
    key: string,
    ids: Readonly<Record<'project' | 'flow' | 'endpoint' | 'response', string>>,
    cookie: string,
  ) {
    this.#receiver = receiver;
    this.#key = key;
    this.#ids = ids;
    this.#cookie = cookie;
  }

  /** Lets a service store a project with a flow, an endpoint, a call, a response and their usage, and a session. */
  static async storedBy(service: ServiceProcess, receiver: WebhookReceiver): Promise<KeptData> {
    const project = await newProject(service.client);
    const { key } = await newKey(service.client, project, 'project');
    const client = service.client.as(key);
    const hooks = `/hooks/${project}`;
    const endpoint = await newEndpoint(client, receiver.url + hooks);
    const flow = await newFlow(client, project);
    await allReceived(receiver, hooks, [flow]);
    await shownDelivery(client, endpoint, ({ openMessages }) => openMessages === 0);
    const chat = { model: 'sandbox', messages: [{ role: 'user', content: 'Hello' }] };
    expectStatus(await client.post('/v1/chat/completions', chat, { 'x-request-id': callId }), 200);
    const response = await createResponse(client);
    const cookie = await signIn(service);
    const data = new KeptData(receiver, key, { project, flow, endpoint, response }, cookie);
    await data.#expectCalls(client);
    return data;
  }

  /** Fails unless a service has all of it, and continues it. */
  async expectIn(service: ServiceProcess): Promise<void> {
    const client = service.client.as(this.#key);
    const { project, flow, endpoint, response } = this.#ids;
    expectStatus(await service.client.get(`/v1/projects/${project}`), 200);
    expectStatus(await client.get(`/v1/flows/${flow}`), 200);
    await this.#expectCalls(client);
    expectStatus(await client.get<Response>(`/v1/responses/${response}`), 200);
    await createResponse(client, response);
    const me = await fetch(`${service.url}/v1/me`, { headers: { cookie: this.#cookie, ...ofPage } });
    assert.equal(me.status, 200);
    const hooks = `/hooks/${project}`;
    const { beganAtEndAt } = await shownDelivery(client, endpoint, ({ openMessages }) => openMessages === 0);
    assert.equal(beganAtEndAt, null);
    const next = await newFlow(client, project);
    await allReceived(this.#receiver, hooks, [flow, next]);
    assert.deepEqual(resourcesAt(this.#receiver, hooks).toSorted(), [flow, next].toSorted());
  }

  async #expectCalls(client: Client): Promise<void> {
    await eventually(
      async () => (await client.get(`/v1/gateway/calls/${callId}`)).status === 200,
      'the call is listed',
    );
    await eventually(async () => {
      const { rows } = expectStatus(await client.get<Usage>('/v1/usage?groupBy=project'), 200);
      return rows.reduce((sum, { calls }) => sum + calls, 0) === 2;
    }, 'both calls are counted');
  }
}

async function createResponse(client: Client, previous?: string): Promise<string> {
  const body = { model: 'sandbox', input: 'Hello', ...(previous && { previous_response_id: previous }) };
  return expectStatus(await client.post<Response>('/v1/responses', body), 200).id;
}

async function signIn({ url }: ServiceProcess): Promise<string> {
  const headers = { authorization: `Bearer ${adminKey}`, ...ofPage };
  const answer = await fetch(`${url}/dashboard/session`, { method: 'POST', headers });
  return answer.headers.get('set-cookie')?.split(';')[0] ?? assert.fail('there is no cookie');
}
