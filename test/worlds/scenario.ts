import { createHash } from 'node:crypto';
import * as E from 'fp-ts/lib/Either.js';
import type { OperationTable } from '#app/parts/operation-tables.ts';
import { createAgentProfile } from '#commands/agent-profile/create-agent-profile.ts';
import { deleteAgentProfile } from '#commands/agent-profile/delete-agent-profile.ts';
import { createApiKey } from '#commands/api-key/create-api-key.ts';
import { revokeApiKey } from '#commands/api-key/revoke-api-key.ts';
import { cancelBatch } from '#commands/batch/cancel-batch.ts';
import { createBatch } from '#commands/batch/create-batch.ts';
import { createCustomer } from '#commands/customer/create-customer.ts';
import { erasePersonalData } from '#commands/customer/erase-personal-data.ts';
import { deleteFile } from '#commands/file/delete-file.ts';
import { createFlow } from '#commands/flow/create-flow.ts';
import { deleteFlow } from '#commands/flow/delete-flow.ts';
import { createInstance } from '#commands/instance/create-instance.ts';
import { deleteInstance } from '#commands/instance/delete-instance.ts';
import { createPhoneNumber } from '#commands/phone-number/create-phone-number.ts';
import { setPhoneNumberFlow } from '#commands/phone-number/set-phone-number-flow.ts';
import { addStoreFile } from '#commands/store/add-store-file.ts';
import { createStore } from '#commands/store/create-store.ts';
import { createTemplate } from '#commands/template/create-template.ts';
import { createTemplateVersion } from '#commands/template-version/create-template-version.ts';
import { publishTemplateVersion } from '#commands/template-version/publish-template-version.ts';
import { createWebhookEndpoint } from '#commands/webhook-endpoint/create-webhook-endpoint.ts';
import { deleteWebhookEndpoint } from '#commands/webhook-endpoint/delete-webhook-endpoint.ts';
import { file } from '#domain/file/file.ts';
import type { Caller } from '#domain/shared/access.ts';
import { newEvent } from '#domain/shared/event.ts';
import type { WorldClient } from './client.ts';
import type { Random } from './random.ts';
import type { SimulatedTime } from './simulated-time.ts';
import type { WorldNode } from './world-node.ts';

/** The commands of worlds. */
export const worldTable = {
  commands: [
    createAgentProfile,
    deleteAgentProfile,
    createApiKey,
    revokeApiKey,
    createCustomer,
    erasePersonalData,
    createFlow,
    deleteFlow,
    createInstance,
    deleteInstance,
    createPhoneNumber,
    setPhoneNumberFlow,
    createTemplate,
    createTemplateVersion,
    publishTemplateVersion,
    createWebhookEndpoint,
    deleteWebhookEndpoint,
    createStore,
    addStoreFile,
    createBatch,
    cancelBatch,
    deleteFile,
  ],
  uploadCommands: [],
  queries: [],
  contentQueries: [],
} as OperationTable;

export interface ScenarioOptions {
  readonly time: SimulatedTime;
  readonly random: Random;
  readonly client: WorldClient;
  readonly caller: Caller;
  readonly nodes: () => ReadonlyArray<WorldNode>;
}

const endpoint = '/v1/chat/completions';

const attachedNumbers = 5;

/** What the clients of a world do: resources come, are connected, and go. */
export class Scenario {
  readonly #options: ScenarioOptions;
  readonly #flows: string[] = [];
  readonly #numbers: string[] = [];
  readonly #keys: string[] = [];
  readonly #files: string[] = [];
  readonly #versions: string[] = [];
  readonly #instances: string[] = [];
  readonly #endpoints: string[] = [];
  readonly #stores: string[] = [];
  readonly #profiles: string[] = [];
  readonly #customers: string[] = [];
  #made = 0;

  constructor(options: ScenarioOptions) {
    this.#options = options;
  }

  /** Does some things one after the other, in a random order. */
  async play(steps: number, pauseMs: number): Promise<void> {
    const { time, random } = this.#options;
    const actions = [
      () => this.#createFlow(),
      () => this.#createNumber(),
      () => this.#createNumber(),
      () => this.#moveNumber(),
      () => this.#deleteFlow(),
      () => this.#createKeys(),
      () => this.#revokeKey(),
      () => this.#createFile(),
      () => this.#expireFile(),
      () => this.#deleteFile(),
      () => this.#fillStore(),
      () => this.#runBatch(),
      () => this.#createCustomer(),
      () => this.#createVersion(),
      () => this.#createInstance(),
      () => this.#deleteInstance(),
      () => this.#createEndpoint(),
      () => this.#createProfile(),
      () => this.writeDigest(),
    ];
    await this.#createFlow();
    for (let step = 0; step < steps; step += 1) {
      await random.pick(actions)();
      await time.wait(pauseMs * random.next());
    }
  }

  /** Attaches some numbers to a flow. @returns what deletes the flow */
  async prepareCascade(): Promise<() => Promise<void>> {
    const flowId = await this.#create([], 'create_flow', { name: this.#name(), flowSchema: {} }, this.#project);
    for (let index = 0; index < attachedNumbers; index += 1) await this.#createNumber(flowId);
    return async () => {
      await this.#options.client.send({ operation: 'delete_flow', parameters: { flowId: flowId ?? '' } });
    };
  }

  async #create(into: string[], operation: string, body: object, parameters = {}): Promise<string | null> {
    const answer = await this.#options.client.send({ operation, body: body as never, parameters });
    if (answer === null) return null;
    const id = String(answer.id ?? answer.organizationId);
    into.push(id);
    return id;
  }

  get #project() {
    return { projectId: this.#options.caller.projectId };
  }

  #name(): string {
    this.#made += 1;
    return `${this.#made}`;
  }

  async #createFlow(): Promise<void> {
    const body = { name: this.#name(), flowSchema: { say: 'Hello' }, agentProfileId: this.#one(this.#profiles) };
    await this.#create(this.#flows, 'create_flow', body, this.#project);
  }

  async #createNumber(flowId = this.#one(this.#flows)): Promise<void> {
    const name = this.#name();
    const number = `+4420718387${String(this.#made).padStart(3, '0')}`;
    await this.#create(this.#numbers, 'create_phone_number', { name, number, flowId }, this.#project);
  }

  async #moveNumber(): Promise<void> {
    const phoneNumberId = this.#one(this.#numbers);
    if (phoneNumberId === null) return;
    const body = { flowId: this.#one(this.#flows) };
    await this.#options.client.send({ operation: 'set_phone_number_flow', parameters: { phoneNumberId }, body });
  }

  async #deleteFlow(): Promise<void> {
    const flowId = this.#one(this.#flows);
    if (flowId === null) return;
    await this.#options.client.send({ operation: 'delete_flow', parameters: { flowId } });
  }

  /** A key creates another one, and an endpoint. */
  async #createKeys(): Promise<void> {
    const { client, caller, random } = this.#options;
    const made = await client.send({
      operation: 'create_api_key',
      parameters: { projectId: caller.projectId },
      body: { name: this.#name(), keyType: 'admin' },
    });
    if (made === null) return;
    const keyId = String(made.id);
    this.#keys.push(keyId);
    const asKey = client.as({ ...caller, keyId });
    const child = { operation: 'create_api_key', parameters: { projectId: caller.projectId } };
    await asKey.send({ ...child, body: { name: this.#name(), keyType: 'project' } });
    if (random.isTrue(0.3)) await asKey.send({ operation: 'create_webhook_endpoint', body: this.#endpointBody() });
  }

  async #revokeKey(): Promise<void> {
    const keyId = this.#one(this.#keys);
    if (keyId === null) return;
    await this.#options.client.send({ operation: 'revoke_api_key', parameters: { keyId, descendants: 'true' } });
  }

  #createFile(expiresAfterSeconds: number | null = null, content = 'text', purpose = 'assistants'): Promise<string> {
    return this.#upload(content, purpose, expiresAfterSeconds);
  }

  async #expireFile(): Promise<void> {
    await this.#createFile(1 + this.#options.random.below(8));
  }

  async #deleteFile(): Promise<void> {
    const id = this.#one(this.#files);
    if (id !== null) await this.#options.client.send({ operation: 'delete_file', parameters: { file_id: id } });
  }

  async #fillStore(): Promise<void> {
    const { client } = this.#options;
    const storeId =
      this.#one(this.#stores) ?? (await this.#create(this.#stores, 'create_store', { name: this.#name() }));
    const fileId = this.#one(this.#files) ?? (await this.#createFile());
    if (storeId === null) return;
    await client.send({ operation: 'add_store_file', parameters: { store_id: storeId }, body: { file_id: fileId } });
  }

  async #runBatch(): Promise<void> {
    const { random, client } = this.#options;
    const lines = Array.from({ length: 1 + random.below(12) }, (_, index) =>
      JSON.stringify({ custom_id: `line-${index}`, method: 'POST', url: endpoint, body: { model: 'sandbox' } }),
    );
    const inputId = await this.#upload(`${lines.join('\n')}\n`, 'batch', null);
    const body = { input_file_id: inputId, endpoint, completion_window: '24h' };
    const made = await client.send({ operation: 'create_batch', body });
    if (made === null || !random.isTrue(0.15)) return;
    await client.send({ operation: 'cancel_batch', parameters: { batch_id: String(made.id) } });
  }

  async #createCustomer(): Promise<void> {
    const { random, client } = this.#options;
    const body = { name: this.#name(), clientEmail: 'owner@example.com' };
    const id = await this.#create(this.#customers, 'create_customer', body);
    if (id === null || !random.isTrue(0.3)) return;
    await client.send({ operation: 'erase_personal_data', parameters: { organizationId: id } });
  }

  async #createVersion(): Promise<void> {
    const { client } = this.#options;
    const templateId = await this.#create([], 'create_template', { name: this.#name() });
    if (templateId === null) return;
    const flows = [{ key: 'welcome', name: 'Welcome', flowType: 'simple', flowSchema: { say: 'Hello' } }];
    const agentProfile = { name: 'Desk', reasoningMode: 'fast', supportedInputLanguages: ['en'] };
    const payload = { flows, agentProfile, knowledgeBases: [{ key: 'faq', name: 'Questions', description: '' }] };
    const made = await client.send({
      operation: 'create_template_version',
      parameters: { templateId },
      body: { payload: { ...payload, integrations: [], phoneNumberRequirements: [] } },
    });
    if (made === null) return;
    const versionId = String(made.id);
    await client.send({ operation: 'publish_template_version', parameters: { versionId } });
    this.#versions.push(versionId);
  }

  async #createInstance(): Promise<void> {
    if (this.#versions.length === 0) await this.#createVersion();
    const templateVersionId = this.#one(this.#versions);
    if (templateVersionId === null) return;
    const body = { templateVersionId, ...this.#project, name: this.#name() };
    await this.#create(this.#instances, 'create_instance', body);
  }

  async #deleteInstance(): Promise<void> {
    const instanceId = this.#one(this.#instances);
    if (instanceId === null) return;
    const body = { keepResources: this.#options.random.isTrue(0.3) };
    await this.#options.client.send({ operation: 'delete_instance', parameters: { instanceId }, body });
  }

  #endpointBody() {
    this.#made += 1;
    return { url: `https://receiver-${this.#made}.example.com/`, eventTypes: [] };
  }

  async #createEndpoint(): Promise<void> {
    const { random, client } = this.#options;
    if (this.#endpoints.length < 2)
      await this.#create(this.#endpoints, 'create_webhook_endpoint', this.#endpointBody());
    else if (random.isTrue(0.3))
      await client.send({
        operation: 'delete_webhook_endpoint',
        parameters: { webhookEndpointId: this.#endpoints.pop() ?? '' },
      });
  }

  async #createProfile(): Promise<void> {
    const { client, random } = this.#options;
    const body = { name: this.#name(), reasoningMode: 'fast', supportedInputLanguages: ['en'] };
    const flowIds = [this.#one(this.#flows)].filter((id) => id !== null);
    const id = await this.#create(this.#profiles, 'create_agent_profile', { ...body, flowIds }, this.#project);
    if (id === null || !random.isTrue(0.4)) return;
    await client.send({ operation: 'delete_agent_profile', parameters: { agentProfileId: id } });
  }

  async writeDigest(): Promise<void> {
    await this.#options.client.send({ operation: 'write_digest', body: {} });
  }

  /** Stores a file as an upload does: first its bytes, then its event. */
  async #upload(content: string, purpose: string, expiresAfterSeconds: number | null): Promise<string> {
    const { time, random, caller, nodes } = this.#options;
    this.#made += 1;
    const id = `file-c${String(this.#made).padStart(23, '0')}`;
    const { keyId, keyType, organizationId, projectId, partnerId } = caller;
    const origin = { actor: { keyId, keyType }, requestId: id, correlationId: id, causationId: id };
    const bytes = Buffer.from(content);
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    for (let attempt = 1; ; attempt += 1) {
      // As each upload has: content that comes late replaces no other.
      const blobId = `file-blob-${this.#made}-${attempt}`;
      const created = newEvent('FileCreated', {
        id,
        projectId,
        blobId,
        filename: 'file',
        purpose,
        contentType: 'text/plain',
        bytes: bytes.length,
        sha256,
        expiresAfterSeconds,
      });
      const [node] = [...nodes()].sort(() => random.next() - 0.5);
      const store = async () => {
        const { blobs, writer } = (node as WorldNode).runtime;
        await blobs.put(blobId, pieces(bytes), bytes.length);
        const tenant = { organizationId, projectId, partnerId };
        const written = await writer.write({
          entity: file,
          id,
          origin,
          decide: ({ state }) => E.right({ events: state === null ? [created] : [], tenant }),
        });
        return E.isRight(written);
      };
      const stored =
        node !== undefined &&
        (await Promise.race([time.runOn(node.machine, store).catch(() => false), time.wait(12_000).then(() => false)]));
      if (stored) break;
      await time.wait(500);
    }
    this.#files.push(id);
    return id;
  }

  #one(of: ReadonlyArray<string>): string | null {
    return of.length === 0 ? null : this.#options.random.pick(of);
  }
}

async function* pieces(bytes: Buffer): AsyncGenerator<Buffer, void, void> {
  yield bytes;
}
