import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Client, Reply } from '#test/support/service/client.ts';
import { expectStatus } from './expect.ts';

/** A command that was answered with success, and its position in the log. */
export interface Acknowledged {
  readonly requestId: string;
  readonly position: number;
  /** The version that it activated or found active; in the latter case the event may be another request's. */
  readonly activated?: string;
}

/** A request that may have been cut off. Repeated with its key, it must be carried out once. */
interface Creation {
  readonly key: string;
  readonly path: string;
  readonly body: object;
  id: string | null;
}

/** Few, so that many requests claim the same number. */
const numbers = Array.from({ length: 30 }, (_, index) => `+44207183${8700 + index}`);

type Names = { readonly id: string };

const workers = 12;
const profile = { supportedInputLanguages: ['en'], reasoningMode: 'fast', outputVoiceId: 'v' };

/** Writers that send commands of many kinds, some of them conflicting, and record the acknowledged ones. */
export class CommandLoad {
  readonly acknowledged: Acknowledged[] = [];
  readonly #creations: Creation[] = [];
  readonly #projectId: string;
  readonly #flowIds: string[] = [];
  readonly #versionIds: string[] = [];
  readonly #numberIds: string[] = [];
  readonly #profileIds: string[] = [];

  private constructor(projectId: string) {
    this.#projectId = projectId;
  }

  /** Creates the project of the load. */
  static async begin(client: Client): Promise<CommandLoad> {
    const project = expectStatus(await client.post<Names>('/v1/projects', { name: 'Load' }), 201);
    const load = new CommandLoad(project.id);
    for (let index = 0; index < 3; index += 1) {
      await load.#createFlow(client);
      await load.#createProfile(client);
    }
    return load;
  }

  /** Sends commands until the service ends. */
  async run(client: Client): Promise<void> {
    await Promise.all(Array.from({ length: workers }, () => this.#work(client)));
  }

  /** Repeats unanswered and some answered creations with their `Idempotency-Key`. Each must be carried out exactly once. */
  async retryUnanswered(client: Client): Promise<void> {
    const sample = this.#creations.filter(({ id }, index) => id === null || index % 10 === 0);
    for (const { key, path, body, id } of sample) {
      const reply = await client.post<Names>(path, body, { 'idempotency-key': key });
      // Its profile or flow may have been deleted in the meantime.
      if (id === null && reply.status === 404) continue;
      const repeated = expectStatus(reply, 201);
      if (id !== null) assert.equal(repeated.id, id);
      const again = expectStatus(await client.post<Names>(path, body, { 'idempotency-key': key }), 201);
      assert.equal(again.id, repeated.id);
    }
  }

  /** Asserts that no cut-off creation blocks a phone number: each is listed or free. */
  async expectNumbersHeldOrFree(client: Client): Promise<void> {
    const path = `/v1/projects/${this.#projectId}/phone-numbers`;
    const { phoneNumbers } = expectStatus(await client.get<{ phoneNumbers: Array<{ number: string }> }>(path), 200);
    const held = new Set(phoneNumbers.map(({ number }) => number));
    await Promise.all(
      numbers.map(async (number) => {
        const reply = await client.post(path, { name: 'Number', number });
        expectStatus(reply, held.has(number) ? 409 : 201);
      }),
    );
  }

  async #work(client: Client): Promise<void> {
    try {
      for (;;) await this.#step(client);
    } catch (error) {
      // The connection ended with the process. An assertion that failed is a finding.
      if (error instanceof assert.AssertionError) throw error;
    }
  }

  async #step(client: Client): Promise<void> {
    const flow = `/v1/flows/${anyOf(this.#flowIds)}`;
    const project = `/v1/projects/${this.#projectId}`;
    switch (Math.floor(Math.random() * 12)) {
      case 0:
        return this.#createFlow(client);
      case 1:
        return this.#createProfile(client);
      case 2:
      case 3:
      case 4: {
        const version = await this.#send(client, 'POST', `${flow}/versions`, { flowSchema: { random: Math.random() } });
        if (version !== null) this.#versionIds.push(version);
        return;
      }
      case 5:
        await this.#send(client, 'PATCH', flow, { name: `Flow ${Math.random()}` });
        return;
      case 6:
        if (this.#versionIds.length > 0) {
          const id = anyOf(this.#versionIds);
          await this.#send(client, 'POST', `/v1/flow-versions/${id}/activate`, undefined, id);
        }
        return;
      case 7:
      case 8: {
        const number = anyOf(numbers);
        const body = { name: 'Number', number, flowId: anyOf(this.#flowIds) };
        const id = await this.#send(client, 'POST', `${project}/phone-numbers`, body);
        if (id !== null) this.#numberIds.push(id);
        return;
      }
      case 9:
        if (this.#numberIds.length > 0) {
          await this.#send(client, 'DELETE', `/v1/phone-numbers/${anyOf(this.#numberIds)}`);
        }
        return;
      case 10: {
        const body = { ...profile, name: 'P', isDefault: true, flowIds: [anyOf(this.#flowIds), anyOf(this.#flowIds)] };
        await this.#send(client, 'PUT', `/v1/agent-profiles/${anyOf(this.#profileIds)}`, body);
        return;
      }
      case 11:
        if (this.#flowIds.length > 6 && Math.random() < 0.3) await this.#send(client, 'DELETE', flow);
        return;
    }
  }

  async #createFlow(client: Client): Promise<void> {
    const body = { name: 'Flow', flowSchema: { random: Math.random() } };
    this.#flowIds.push(await this.#create(client, `/v1/projects/${this.#projectId}/flows`, body));
  }

  async #createProfile(client: Client): Promise<void> {
    const body = { ...profile, name: 'Profile', isDefault: false, flowIds: [] };
    this.#profileIds.push(await this.#create(client, `/v1/projects/${this.#projectId}/agent-profiles`, body));
  }

  async #create(client: Client, path: string, body: object): Promise<string> {
    const creation: Creation = { key: randomUUID(), path, body, id: null };
    this.#creations.push(creation);
    const requestId = randomUUID();
    const headers = { 'idempotency-key': creation.key, 'x-request-id': requestId };
    const reply = await client.post<Names>(path, body, headers);
    const { id } = expectStatus(reply, 201);
    this.#keep(requestId, reply);
    creation.id = id;
    return id;
  }

  /** @returns the record's id; null where it was refused */
  async #send(
    client: Client,
    method: 'POST' | 'PATCH' | 'PUT' | 'DELETE',
    path: string,
    body?: object,
    activated?: string,
  ): Promise<string | null> {
    const requestId = randomUUID();
    const headers = { 'x-request-id': requestId, ...(body && { 'content-type': 'application/json' }) };
    const reply = await client.send<Names | undefined>({
      method,
      path,
      headers,
      ...(body && { body: JSON.stringify(body) }),
    });
    // Conflicts with other writers and a stopping service are expected.
    if ([404, 409, 503].includes(reply.status)) return null;
    assert.ok(reply.status < 300, `${method} ${path} → ${reply.status} ${reply.text}`);
    this.#keep(requestId, reply, activated);
    return reply.body?.id ?? null;
  }

  #keep(requestId: string, reply: Reply<unknown>, activated?: string): void {
    const position = Number(reply.headers['switchyard-position']);
    assert.ok(position > 0, 'an acknowledged command has no position');
    this.acknowledged.push({ requestId, position, ...(activated === undefined ? {} : { activated }) });
  }
}

function anyOf<T>(items: ReadonlyArray<T>): T {
  const item = items[Math.floor(Math.random() * items.length)];
  if (item === undefined) throw new Error('there is no item yet');
  return item;
}
