import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client, RawRequest, Reply } from '#test/support/service/client.ts';
import { until } from '#test/support/service/service-process.ts';
import { expectStatus } from './expect.ts';

type Named = { readonly id: string };

const workers = 4;
const restMilliseconds = 20;
const retryMilliseconds = 200;
/** A store answers within five seconds or is given up; a request that waits its turn on a stream waits ten. */
const answerLimitMilliseconds = 20_000;
/** From the first try of a command to its success, whatever went wrong meanwhile. */
const settleLimitMilliseconds = 120_000;
/** Of whoever waits for what it does. */
const waitLimitMilliseconds = 120_000;
const profile = { name: 'P', supportedInputLanguages: ['en'], reasoningMode: 'fast', outputVoiceId: 'v' };

/**
 * Writers that carry each command out to its end: what is answered by 503 they send again with the same
 * `Idempotency-Key` and request id, until it is acknowledged. An answer of another kind is a failure, and so is one that
 * takes longer than the service may take.
 */
export class SettlingLoad {
  /** The request ids of the commands that were acknowledged. */
  readonly acknowledged: string[] = [];
  readonly #client: Client;
  readonly #projectId: string;
  readonly #sharedFlowId: string;
  readonly #stopping = new AbortController();
  #unavailable = 0;
  #failure: unknown = null;
  #running: Promise<unknown> = Promise.resolve();

  private constructor(client: Client, projectId: string, sharedFlowId: string) {
    this.#client = client;
    this.#projectId = projectId;
    this.#sharedFlowId = sharedFlowId;
  }

  /** Makes the project in which all of it happens, and begins. */
  static async begin(client: Client): Promise<SettlingLoad> {
    const project = expectStatus(await client.post<Named>('/v1/projects', { name: 'Load' }), 201);
    const path = `/v1/projects/${project.id}/flows`;
    const flow = expectStatus(await client.post<Named>(path, { name: 'Shared', flowSchema: {} }), 201);
    const load = new SettlingLoad(client, project.id, flow.id);
    load.#running = Promise.all(Array.from({ length: workers }, () => load.#work()));
    load.#running.catch((error: unknown) => {
      load.#failure = error;
    });
    return load;
  }

  /** Waits until so many more commands were acknowledged. @throws what went wrong in it */
  async expectMore(count: number): Promise<void> {
    const before = this.acknowledged.length;
    const more = () => this.acknowledged.length - before;
    await this.#until(
      () => more() >= count,
      () => `only ${more()} of ${count} commands were acknowledged`,
    );
  }

  /** Waits until commands were answered by 503. @throws what went wrong in it */
  async expectUnavailable(): Promise<void> {
    const before = this.#unavailable;
    await this.#until(
      () => this.#unavailable >= before + 2,
      () => 'no command was refused',
    );
  }

  /** Ends it once each command under way was acknowledged. @throws what went wrong in it */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #until(holds: () => boolean, otherwise: () => string): Promise<void> {
    const held = await until(async () => {
      if (this.#failure !== null) throw this.#failure;
      return holds();
    }, waitLimitMilliseconds);
    assert.ok(held, otherwise());
  }

  async #work(): Promise<void> {
    const profiles = `/v1/projects/${this.#projectId}/agent-profiles`;
    const profileId = await this.#carryOut('POST', profiles, { ...profile, isDefault: false, flowIds: [] });
    while (!this.#stopping.signal.aborted) await this.#round(profileId);
  }

  /** The life of a flow, whose end has its number detached by a process. */
  async #round(profileId: string): Promise<void> {
    const project = `/v1/projects/${this.#projectId}`;
    const flowId = await this.#carryOut('POST', `${project}/flows`, { name: 'Flow', flowSchema: { a: 1 } });
    const number = { name: 'N', type: 'external', number: `line ${randomUUID()}`, flowId };
    await this.#carryOut('POST', `${project}/phone-numbers`, number);
    await this.#carryOut('PATCH', `/v1/flows/${this.#sharedFlowId}`, { name: `Shared ${randomUUID()}` });
    const versionId = await this.#carryOut('POST', `/v1/flows/${flowId}/versions`, { flowSchema: { a: 2 } });
    await this.#carryOut('POST', `/v1/flow-versions/${versionId}/activate`);
    const replacement = { ...profile, isDefault: false, flowIds: [flowId] };
    await this.#carryOut('PUT', `/v1/agent-profiles/${profileId}`, replacement);
    if (Math.random() < 0.5) await this.#carryOut('DELETE', `/v1/flows/${flowId}`);
  }

  /** @returns the id in the answer */
  async #carryOut(method: RawRequest['method'], path: string, body?: object): Promise<string> {
    const requestId = randomUUID();
    const headers = {
      'idempotency-key': randomUUID(),
      'x-request-id': requestId,
      ...(body && { 'content-type': 'application/json' }),
    };
    const request = { method, path, headers, ...(body && { body: JSON.stringify(body) }) };
    const deadline = performance.now() + settleLimitMilliseconds;
    for (;;) {
      const reply = await answeredInTime(() => this.#client.send<Named | undefined>(request), `${method} ${path}`);
      if (reply.status < 300) {
        this.acknowledged.push(requestId);
        await sleep(restMilliseconds);
        return reply.body?.id ?? '';
      }
      this.#expectPassing(reply, `${method} ${path}`);
      assert.ok(performance.now() < deadline, `${method} ${path} does not recover: ${reply.text}`);
      await sleep(retryMilliseconds);
    }
  }

  #expectPassing(reply: Reply<unknown>, request: string): void {
    const told = `${request} → ${reply.status} ${reply.text}`;
    if (reply.status === 503) this.#unavailable += 1;
    else assert.match(reply.text, /"too-many-conflicts"|"idempotency-key-in-progress"/, told);
    if (reply.status === 503) assert.match(reply.headers['retry-after'] ?? '', /^[1-9]\d*$/, told);
  }
}

/** What a request is answered; it fails if that takes longer than the service may take. */
export async function answeredInTime<T>(send: () => Promise<Reply<T>>, request: string): Promise<Reply<T>> {
  const sent = performance.now();
  const reply = await send();
  const took = performance.now() - sent;
  assert.ok(took < answerLimitMilliseconds, `${request} was answered by ${reply.status} after ${took} ms`);
  return reply;
}
