import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client, RawRequest, Reply } from '#test/support/service/client.ts';
import { poll } from '#test/support/service/service-process.ts';
import { expectStatus } from './expect.ts';

type Named = { readonly id: string };

const defaultWriters = 4;
const saveIntervalMs = 20;
const retryDelayMs = 200;
/** More than the five seconds that a call to a store may take and the ten that a request may wait for its stream. */
const answerTimeoutMs = 20_000;
/** From the first attempt of a command to its success, with all retries. */
const settleTimeoutMs = 120_000;
/** For a test that waits for the load. */
const waitTimeoutMs = 120_000;
const profile = { name: 'P', supportedInputLanguages: ['en'], reasoningMode: 'fast', outputVoiceId: 'v' };

/**
 * A client that repeats each request while it is answered with 503, a command with the same `Idempotency-Key` and request
 * id, until it succeeds. Any other refusal is a failure, and so is an answer that takes too long.
 */
export class SettlingClient {
  /** The request ids of the commands that were acknowledged. */
  readonly acknowledged: string[] = [];
  readonly #client: Pick<Client, 'send'>;
  #unavailable = 0;

  constructor(client: Pick<Client, 'send'>) {
    this.#client = client;
  }

  /** How many requests were answered with 503. */
  get unavailable(): number {
    return this.#unavailable;
  }

  /** Sends a command until it is acknowledged. @throws AssertionError */
  async carryOut(method: RawRequest['method'], path: string, body?: object): Promise<Reply<Named | undefined>> {
    const requestId = randomUUID();
    const headers = {
      'idempotency-key': randomUUID(),
      'x-request-id': requestId,
      ...(body && { 'content-type': 'application/json' }),
    };
    const reply = await this.#settled<Named | undefined>({
      method,
      path,
      headers,
      ...(body && { body: JSON.stringify(body) }),
    });
    this.acknowledged.push(requestId);
    return reply;
  }

  /** Reads what is shown at a position or later. @param position of an answer of the same node @throws AssertionError */
  async readAt<T>(path: string, position: string): Promise<T> {
    const headers = { 'switchyard-min-position': position };
    return (await this.#settled<T>({ method: 'GET', path, headers })).body;
  }

  async #settled<T>(request: RawRequest): Promise<Reply<T>> {
    const what = `${request.method} ${request.path}`;
    const deadline = performance.now() + settleTimeoutMs;
    for (;;) {
      const reply = await answeredInTime(() => this.#client.send<T>(request), what);
      if (reply.status < 300) return reply;
      this.#expectRetryable(reply, what);
      assert.ok(performance.now() < deadline, `${what} does not recover: ${reply.text}`);
      await sleep(retryDelayMs);
    }
  }

  #expectRetryable(reply: Reply<unknown>, request: string): void {
    const summary = `${request} → ${reply.status} ${reply.text}`;
    if (reply.status === 503) this.#unavailable += 1;
    else assert.match(reply.text, /"too-many-conflicts"|"idempotency-key-in-progress"/, summary);
    if (reply.status === 503) assert.match(reply.headers['retry-after'] ?? '', /^[1-9]\d*$/, summary);
  }
}

/** Writers that change a project continuously, each command until it is acknowledged. */
export class SettlingLoad {
  readonly #client: SettlingClient;
  readonly #projectId: string;
  readonly #sharedFlowId: string;
  readonly #stopping = new AbortController();
  #failure: unknown = null;
  #running: Promise<unknown> = Promise.resolve();

  private constructor(client: Client, projectId: string, sharedFlowId: string) {
    this.#client = new SettlingClient(client);
    this.#projectId = projectId;
    this.#sharedFlowId = sharedFlowId;
  }

  /** Creates the project of the load, and starts the writers. @param writers how many */
  static async begin(client: Client, writers = defaultWriters): Promise<SettlingLoad> {
    const project = expectStatus(await client.post<Named>('/v1/projects', { name: 'Load' }), 201);
    const path = `/v1/projects/${project.id}/flows`;
    const flow = expectStatus(await client.post<Named>(path, { name: 'Shared', flowSchema: {} }), 201);
    const load = new SettlingLoad(client, project.id, flow.id);
    load.#running = Promise.all(Array.from({ length: writers }, () => load.#work()));
    load.#running.catch((error: unknown) => {
      load.#failure = error;
    });
    return load;
  }

  /** The request ids of the commands that were acknowledged. */
  get acknowledged(): ReadonlyArray<string> {
    return this.#client.acknowledged;
  }

  /** Waits until this many further commands were acknowledged. @throws the failure of the load */
  async expectMore(count: number): Promise<void> {
    const before = this.acknowledged.length;
    const more = () => this.acknowledged.length - before;
    await this.#poll(
      () => more() >= count,
      () => `only ${more()} of ${count} commands were acknowledged`,
    );
  }

  /** Waits until commands were answered with 503. @throws the failure of the load */
  async expectUnavailable(): Promise<void> {
    const before = this.#client.unavailable;
    await this.#poll(
      () => this.#client.unavailable >= before + 2,
      () => 'no command was refused',
    );
  }

  /** Stops once each command under way is acknowledged. @throws the failure of the load */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #poll(holds: () => boolean, otherwise: () => string): Promise<void> {
    const held = await poll(async () => {
      if (this.#failure !== null) throw this.#failure;
      return holds();
    }, waitTimeoutMs);
    assert.ok(held, otherwise());
  }

  async #work(): Promise<void> {
    const profiles = `/v1/projects/${this.#projectId}/agent-profiles`;
    const profileId = await this.#carryOut('POST', profiles, { ...profile, isDefault: false, flowIds: [] });
    while (!this.#stopping.signal.aborted) await this.#round(profileId);
  }

  /** The commands on one flow, from its creation to its deletion, after which a process detaches its phone number. */
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
    const reply = await this.#client.carryOut(method, path, body);
    await sleep(saveIntervalMs);
    return reply.body?.id ?? '';
  }
}

/** Sends a request, and fails when the answer takes longer than the service may take. */
export async function answeredInTime<T>(send: () => Promise<Reply<T>>, request: string): Promise<Reply<T>> {
  const sent = performance.now();
  const reply = await send();
  const took = performance.now() - sent;
  assert.ok(took < answerTimeoutMs, `${request} was answered by ${reply.status} after ${took} ms`);
  return reply;
}
