import { setTimeout as sleep } from 'node:timers/promises';
import { expectStatus } from '#test/e2e/support/expect.ts';
import { type MadeKey, newKey, newProject } from '#test/e2e/support/tenants.ts';
import { eventually } from '#test/support/run/eventually.ts';
import type { Client } from '#test/support/service/client.ts';
import { type Address, askUnread, begin, type Leave, open, send } from './send.ts';

const maxConnections = 60;
const maxBodyBytes = 32 * 1024;
const maxBytesOfBodies = 6 * maxBodyBytes;
const maxAnswerBytes = 16 * 1024;

/** Limits of the service that few requests reach. */
export const limits = {
  REQUESTS_PER_MINUTE: '60',
  ORGANIZATION_LIMIT_FACTOR: '100000',
  PARTNER_LIMIT_FACTOR: '100000',
  MAX_CONNECTIONS: String(maxConnections),
  MAX_BODY_BYTES: String(maxBodyBytes),
  MAX_JSON_BYTES: String(maxBodyBytes),
  MAX_BODY_BYTES_IN_FLIGHT_PER_PROJECT: String(maxBytesOfBodies),
  MAX_ANSWER_BYTES_IN_FLIGHT_PER_PROJECT: String(maxAnswerBytes),
};
/** Limits of the gateway's configuration. */
export const callLimits = { callsAtOnce: 1 };

/** More than a body may have. */
export const bytesBeyondSize = maxBodyBytes + 10_000;
const unfinishedBytes = 30_000;
const unfinishedBodies = 6;
/** More than there is room for next to unfinished bodies. */
export const bytesBeyondRoom = 20_000;

/** How soon a limit that is not reached yet is tried again: seldom, because tries count as requests. */
const tryAgainMs = 100;

/** The service that is asked. */
export interface AskedService {
  readonly port: number;
  readonly admin: Client;
  readonly adminKey: string;
}

type Given = 'method' | 'path' | 'body';

/** A project with the key that asks, another key that reaches limits, and a flow. */
export class AskingProject {
  readonly id: string;
  readonly flowId: string;
  /** The key that asks. */
  readonly key: string;
  readonly #keyId: string;
  readonly #otherKey: string;
  readonly #service: AskedService;

  private constructor(
    service: AskedService,
    id: string,
    made: { readonly key: MadeKey; readonly other: MadeKey; readonly flowId: string },
  ) {
    this.#service = service;
    this.id = id;
    this.key = made.key.key;
    this.#keyId = made.key.id;
    this.#otherKey = made.other.key;
    this.flowId = made.flowId;
  }

  /** @param scopes of the key that asks; default: all */
  static async create(service: AskedService, scopes?: ReadonlyArray<string>): Promise<AskingProject> {
    const { admin } = service;
    const id = await newProject(admin);
    const [key, other, flowId] = await Promise.all([
      newKey(admin, id, 'project', scopes),
      newKey(admin, id, 'project'),
      newFlow(admin, id),
    ]);
    return new AskingProject(service, id, { key, other, flowId });
  }

  async revokeKey(): Promise<void> {
    expectStatus(await this.#service.admin.remove(`/v1/keys/${this.#keyId}`), 200);
  }

  async deleteFlow(): Promise<void> {
    expectStatus(await this.#service.admin.remove(`/v1/flows/${this.flowId}`), 204);
  }

  /** Uses up the requests of the minute. */
  async reachRate(): Promise<void> {
    const client = this.#service.admin.as(this.#otherKey);
    for (let code: unknown; code !== 'rate-limited'; ) ({ code } = (await client.get('/v1/nothing')).body);
  }

  /** Fills the room of answers with some that nobody reads: they wait behind a feed. */
  async fillAnswers(): Promise<Leave> {
    const path = `/v1/flows/${this.flowId}`;
    const answers = Array.from({ length: Math.ceil(maxAnswerBytes / description.length) }, () => path);
    const leave = askUnread(this.#service.port, this.#otherKey, ['/v1/events', ...answers]);
    await this.#untilRefused({ method: 'GET', path }, 'too-many-answer-bytes');
    return leave;
  }

  /** Fills the room of bodies with some that are unfinished. @param address default: that of the API */
  async fillBodies(address: Address = { port: this.#service.port }): Promise<Leave> {
    const asked = { method: 'POST', path: `/v1/projects/${this.id}/flows` };
    const length = { 'content-length': maxBodyBytes - 1_000 };
    const bodies = Array.from({ length: unfinishedBodies }, () =>
      begin(address, { ...asked, ...this.#json(length), body: ' '.repeat(unfinishedBytes) }),
    );
    await this.#untilRefused({ ...asked, body: ' '.repeat(bytesBeyondRoom) }, 'too-many-body-bytes', address);
    return () => {
      for (const leave of bodies) leave();
    };
  }

  /** Has as many calls of models as may run: one whose body is unfinished. */
  async fillCalls(): Promise<Leave> {
    const asked = { method: 'POST', path: '/v1/chat/completions' };
    const leave = begin(
      { port: this.#service.port },
      { ...asked, ...this.#json({ 'content-length': 100 }), body: '{' },
    );
    await this.#untilRefused({ ...asked, body: '{}' }, 'too_many_calls');
    return leave;
  }

  async #untilRefused(
    asked: { readonly [Name in Given]?: string } & { readonly method: string; readonly path: string },
    code: string,
    address: Address = { port: this.#service.port },
  ): Promise<void> {
    await eventually(async () => {
      const { text } = await send(address, { ...asked, ...this.#json() });
      if (text.includes(`"${code}"`)) return true;
      await sleep(tryAgainMs);
      return false;
    }, code);
  }

  #json(further: Readonly<Record<string, number>> = {}) {
    return { headers: { 'x-api-key': this.#otherKey, 'content-type': 'application/json', ...further } };
  }
}

/** Takes every connection of the service with feeds. @returns ends them, and waits until the service has seen it */
export async function fillConnections({ port, admin, adminKey }: AskedService): Promise<() => Promise<void>> {
  const left: Leave[] = [];
  const feed = { method: 'GET', path: '/v1/events', headers: { 'x-api-key': adminKey } };
  // The service may see the end of an earlier connection only after the first refusal.
  for (let refused = 0; refused < 2; ) {
    const opened = await open({ port }, feed);
    left.push(opened.leave);
    if (opened.status === 200) continue;
    refused += 1;
    await sleep(20);
  }
  return async () => {
    for (const leave of left) leave();
    await eventually(async () => {
      const { text } = await admin.get('/metrics');
      return Number(/^switchyard_connections (\d+)$/m.exec(text)?.[1]) < maxConnections / 2;
    }, 'the end of the feeds');
  };
}

/** As many bytes as make an answer large. */
const description = 'd'.repeat(4_900);

async function newFlow(admin: Client, projectId: string): Promise<string> {
  const flow = { name: 'Hours', description, flowSchema: {} };
  return expectStatus(await admin.post<{ readonly id: string }>(`/v1/projects/${projectId}/flows`, flow), 201).id;
}
