import assert from 'node:assert/strict';
import { uploadText } from '#test/e2e/support/upload.ts';
import type { Client } from '#test/support/service/client.ts';
import { entryOf } from '#test/support/webhooks/webhook-receiver.ts';
import { AnyNode } from './any-node.ts';
import type { FaultyNodes } from './faulty-nodes.ts';
import { batchLine } from './line-provider.ts';

interface Named {
  readonly id: string;
}

interface MadeKey extends Named {
  readonly key: string;
}

interface ShownBatch {
  readonly status: string;
  readonly request_counts: object;
}

/** Something that must happen without a further command. */
export interface Expectation {
  readonly what: string;
  readonly hasHappened: () => Promise<boolean> | boolean;
}

/** What is there before a fault, so that its removal has something to cascade to. */
export interface Preparation {
  readonly flowId: string;
  readonly numberId: string;
  readonly parentId: string;
  /** The texts of a child of the key and of a child of that. */
  readonly descendants: ReadonlyArray<string>;
}

/** Of a call that takes some ten commands of MongoDB. */
const uploadMs = 25_000;
const webhookPath = '/reactions';
let count = 0;

/** Makes commands to which the service reacts by itself, and says what must follow. */
export class Reactions {
  readonly any: AnyNode;
  readonly #nodes: FaultyNodes;
  readonly #lines: number;
  readonly #projectPath: string;

  private constructor(nodes: FaultyNodes, any: AnyNode, projectPath: string, lines: number) {
    this.#nodes = nodes;
    this.any = any;
    this.#projectPath = projectPath;
    this.#lines = lines;
  }

  /** Creates a project, and an endpoint for its webhooks. @param lines of each batch */
  static async begin(nodes: FaultyNodes, lines: number): Promise<Reactions> {
    const any = new AnyNode(() => nodes.clients);
    const { id } = await any.carryOut<Named>('POST', '/v1/projects', { name: 'Reactions' });
    const begun = new Reactions(nodes, any, `/v1/projects/${id}`, lines);
    const { key } = await begun.#makeKey(any);
    const endpoint = { url: `${nodes.receiver.url}${webhookPath}`, eventTypes: ['FlowDeleted'] };
    await begun.#as(key).carryOut('POST', '/v1/webhook-endpoints', endpoint);
    return begun;
  }

  async prepare(): Promise<Preparation> {
    const flow = await this.any.carryOut<Named>('POST', `${this.#projectPath}/flows`, { name: 'F', flowSchema: {} });
    count += 1;
    const number = { name: 'N', type: 'external', number: `reaction ${count}`, flowId: flow.id };
    const { id: numberId } = await this.any.carryOut<Named>('POST', `${this.#projectPath}/phone-numbers`, number);
    const parent = await this.#makeKey(this.any);
    const child = await this.#makeKey(this.#as(parent.key));
    const grandchild = await this.#makeKey(this.#as(child.key));
    return { flowId: flow.id, numberId, parentId: parent.id, descendants: [child.key, grandchild.key] };
  }

  /** Makes the commands, each until it is acknowledged. @returns what must happen now */
  async act(preparation: Preparation): Promise<ReadonlyArray<Expectation>> {
    const [batch, removals] = await Promise.all([this.beginBatch(), this.remove(preparation)]);
    return [batch, ...removals];
  }

  /** Deletes the flow, and revokes the key with its descendants. @returns what must happen now */
  async remove({ flowId, numberId, parentId, descendants }: Preparation): Promise<ReadonlyArray<Expectation>> {
    await Promise.all([
      this.any.carryOut('DELETE', `/v1/flows/${flowId}`),
      this.any.carryOut('DELETE', `/v1/keys/${parentId}?descendants=true`),
    ]);
    return [
      { what: `the number ${numberId} is detached`, hasHappened: () => this.#isDetached(numberId) },
      ...descendants.map((key, index) => ({
        what: `descendant ${index + 1} of the key ${parentId} is revoked`,
        hasHappened: () => this.#isRefused(key),
      })),
      { what: `the webhook of the flow ${flowId} has come`, hasHappened: () => this.#hasCome(flowId) },
    ];
  }

  /** Creates a batch. @returns that it must complete */
  async beginBatch(): Promise<Expectation> {
    const id = await this.#createBatch();
    return { what: `the batch ${id} has completed`, hasHappened: () => this.#isCompleted(id) };
  }

  #as(key: string): AnyNode {
    return new AnyNode(() => this.#nodes.clients.map((client) => client.as(key)));
  }

  #makeKey(maker: AnyNode): Promise<MadeKey> {
    // A repeated creation answers without the secret, so this one is repeated as another one.
    const make = (client: Client) =>
      client.post<MadeKey>(`${this.#projectPath}/keys`, { name: 'K', keyType: 'project' });
    return maker.settled(make, 'POST keys');
  }

  async #createBatch(): Promise<string> {
    count += 1;
    const texts = Array.from({ length: this.#lines }, (_, line) => batchLine(`batch ${count} line ${line}`));
    const input = { filename: 'input.jsonl', purpose: 'batch' };
    const upload = (client: Client) =>
      uploadText(client, texts.join('\n'), input).then(
        (body) => ({ status: 200, headers: {}, body, text: '' }),
        (error: unknown) => ({ status: 503, headers: {}, body: { id: '', bytes: 0 }, text: String(error) }),
      );
    const { id } = await this.any.settled(upload, 'POST files', uploadMs);
    const batch = { input_file_id: id, endpoint: '/v1/chat/completions', completion_window: '24h' };
    const create = (client: Client) => client.post<Named>('/v1/batches', batch);
    return (await this.any.settled(create, 'POST batches', uploadMs)).id;
  }

  async #isDetached(numberId: string): Promise<boolean> {
    const reply = await this.any.ask((client) =>
      client.get<{ readonly flowId: string | null }>(`/v1/phone-numbers/${numberId}`),
    );
    return reply?.status === 200 && reply.body.flowId === null;
  }

  async #isRefused(key: string): Promise<boolean> {
    return (await this.any.ask((client) => client.as(key).get('/v1/me')))?.status === 401;
  }

  #hasCome(flowId: string): boolean {
    return this.#nodes.receiver.at(webhookPath).some((message) => entryOf(message).resource.id === flowId);
  }

  async #isCompleted(batchId: string): Promise<boolean> {
    const reply = await this.any.ask((client) => client.get<ShownBatch>(`/v1/batches/${batchId}`));
    if (reply?.status !== 200) return false;
    const { status, request_counts: counts } = reply.body;
    assert.ok(!/failed|expired|cancelled/.test(status), reply.text);
    if (status !== 'completed') return false;
    assert.deepEqual(counts, { total: this.#lines, completed: this.#lines, failed: 0 });
    return true;
  }
}
