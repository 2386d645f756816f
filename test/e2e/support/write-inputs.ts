import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Client } from '#test/support/service/client.ts';
import { poll } from '#test/support/service/service-process.ts';
import type { FormInput } from './docs-page.ts';
import type { DocumentedOperations } from './documented-operations.ts';
import { uploadText } from './upload.ts';

type Named = { readonly id: string };
interface Instance extends Named {
  readonly operation: object | null;
  readonly lastOperation: { readonly outcome: string } | null;
}
interface ProjectionStatuses {
  readonly projections: ReadonlyArray<{ readonly name: string; readonly state: string }>;
}

/** The limit of a wait for processes. It only keeps a test from hanging. */
const maxWaitMs = 120_000;

const line = (id: number) =>
  JSON.stringify({
    custom_id: `line-${id}`,
    method: 'POST',
    url: '/v1/chat/completions',
    body: { model: 'auto', reasoning: 'fast', messages: [{ role: 'user', content: 'Hello' }] },
  });

/** A file of one line for a batch. */
export const linesFile = { name: 'input.jsonl', mimeType: 'application/jsonl', buffer: Buffer.from(line(1)) };
const speechFile = { name: 'speech.mp3', mimeType: 'audio/mpeg', buffer: Buffer.from('ID3 some speech') };

/** The port of an obsolete service that machines no longer run. */
const closedPort = 'http://127.0.0.1:9/hooks';

/** So many lines that a batch runs far longer, one line at a time, than a caller needs to cancel it. */
const linesOfLongBatch = 20_000;

/**
 * The variables of a service on which every input succeeds: a long batch is still running when it is cancelled, and
 * nothing resolves the host of a webhook endpoint, so no name server is needed.
 */
export const writableEnvironment = { BATCH_CALLS_AT_ONCE: '1', WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true' };

/** The inputs of the writes of the specification, by the operation's name. */
export type WriteInputs = Readonly<Record<string, () => Promise<FormInput>>>;

/** The operations that a healthy service refuses because nothing has stopped, with the codes of the refusals. */
export const refusedWrites: Readonly<Record<string, Pick<FormInput, 'path'> & { readonly code: string }>> = {
  retry_projection: { path: { projection: 'stores' }, code: 'projection-not-stopped' },
  skip_projection_event: { path: { projection: 'stores' }, code: 'projection-not-stopped' },
  retry_process: { path: { process: 'detach-phone-numbers' }, code: 'process-not-stopped' },
  skip_process_event: { path: { process: 'detach-phone-numbers' }, code: 'process-not-stopped' },
  skip_event: { code: 'event-not-stopped' },
  cancel_response: { path: { responseId: 'resp_none' }, code: 'response_not_found' },
};

/** The service that the inputs are for. It is read when an input is made, so it may be started later. */
export interface WriteContext {
  /** A client with the admin key, of a service with `writableEnvironment`. */
  readonly client: Client;
  /** Creates the resources that inputs need. */
  readonly operations: Pick<DocumentedOperations, 'call'>;
  /** The project of the key. */
  readonly projectId: string;
}

/**
 * Returns a function for the input of each write that succeeds. It first creates the resources that the write needs, so
 * each input can be used once. What an input omits has the specification's example.
 */
export function writeInputs(context: WriteContext): WriteInputs {
  const call = <T = Named>(name: string, parameters: Readonly<Record<string, string>> = {}, members: object = {}) =>
    context.operations.call<T>(name, parameters, members);
  const freshNumber = () => `line ${randomUUID()}`;
  /** An update with the example alone would change nothing. */
  const freshName = () => ({ name: `Name of ${freshNumber()}` });
  const flow = async () => (await call('create_flow', { projectId: context.projectId })).id;
  const flowVersion = async () => (await call('create_flow_version', { flowId: await flow() })).id;
  const phoneNumber = async () => {
    const members = { number: freshNumber(), flowId: null };
    return (await call('create_phone_number', { projectId: context.projectId }, members)).id;
  };
  const agentProfile = async (isDefault: boolean) =>
    (await call('create_agent_profile', { projectId: context.projectId }, { flowIds: [], isDefault })).id;
  const template = async () => (await call('create_template')).id;
  const templateVersion = async (templateId?: string, members = {}) =>
    (await call('create_template_version', { templateId: templateId ?? (await template()) }, members)).id;
  const published = async (templateId?: string, members = {}) => {
    const versionId = await templateVersion(templateId, members);
    return (await call('publish_template_version', { versionId })).id;
  };
  const settled = async (instanceId: string): Promise<Instance> => {
    const found = await poll(async () => {
      const now = await call<Instance>('get_instance', { instanceId });
      return now.operation === null ? now : null;
    }, maxWaitMs);
    return found ?? assert.fail('the operation on the instance does not end');
  };
  const instance = async (templateVersionId: string) =>
    (await settled((await call('create_instance', {}, { templateVersionId, projectId: context.projectId })).id)).id;
  /** An instance whose upgrade was undone: a flow schema would have been longer than a mebibyte. */
  const undoneInstance = async () => {
    const templateId = await template();
    const instanceId = await instance(await published(templateId));
    const say = '{{fields.practice_name}}'.repeat(300);
    const long = { key: 'long', name: 'Long', flowType: 'simple', flowSchema: { say } };
    const targetTemplateVersionId = await published(templateId, { payload: { flows: [long] } });
    const newFieldValues = { practice_name: 'x'.repeat(5_000) };
    await call('upgrade_instance', { instanceId }, { targetTemplateVersionId, newFieldValues });
    assert.equal((await settled(instanceId)).lastOperation?.outcome, 'undone');
    return instanceId;
  };
  const customer = async () => (await call<{ organizationId: string }>('create_customer')).organizationId;
  const apiKey = async () => (await call('create_api_key', { projectId: context.projectId })).id;
  const file = async (content = line(1), purpose = 'batch') =>
    (await uploadText(context.client, content, { filename: 'input.jsonl', purpose })).id;
  const store = async () => (await call('create_store')).id;
  const longBatch = async () => {
    const lines = Array.from({ length: linesOfLongBatch }, (_, index) => line(index)).join('\n');
    return (await call('create_batch', {}, { input_file_id: await file(lines) })).id;
  };
  const webhookEndpoint = async () => (await call('create_webhook_endpoint', {}, { url: closedPort })).id;
  const runningProjection = async (projection: string) => {
    const isRunning = async () => {
      const { projections } = await call<ProjectionStatuses>('list_projections');
      return projections.some(({ name, state }) => name === projection && state === 'running');
    };
    assert.ok(await poll(isRunning, maxWaitMs), `the projection ${projection} is still rebuilt`);
    return projection;
  };

  const response = async () =>
    (await call<{ id: string }>('create_response', {}, { model: 'sandbox', input: 'Hello' })).id;

  const untouched = async (): Promise<FormInput> => ({});

  return {
    create_template: untouched,
    create_project: untouched,
    create_organization: untouched,
    create_customer: untouched,
    create_store: untouched,
    complete_chat: untouched,
    create_message: untouched,
    create_response: untouched,
    delete_response: async () => ({ path: { responseId: await response() } }),
    erase_project_responses: async () => ({ path: { projectId: context.projectId } }),
    count_message_tokens: untouched,
    create_embeddings: untouched,
    create_speech: untouched,
    write_digest: untouched,
    archive_usage: untouched,
    end_api_key_secrets: untouched,
    // Values that a browser cannot know: the file, and ids in the body.
    create_file: async () => ({ file: linesFile }),
    create_transcription: async () => ({ file: speechFile }),
    create_batch: async () => ({ body: { input_file_id: await file() } }),
    create_instance: async () => ({ body: { templateVersionId: await published(), projectId: context.projectId } }),

    create_flow: async () => ({ path: { projectId: context.projectId } }),
    update_flow: async () => ({ path: { flowId: await flow() }, body: freshName() }),
    delete_flow: async () => ({ path: { flowId: await flow() } }),
    change_flow_tier: async () => ({ path: { flowId: await flow() } }),
    create_flow_version: async () => ({ path: { flowId: await flow() } }),
    tag_flow_version: async () => ({ path: { versionId: await flowVersion() } }),
    delete_flow_version: async () => ({ path: { versionId: await flowVersion() } }),
    activate_flow_version: async () => ({ path: { versionId: await flowVersion() } }),
    restore_flow_version: async () => ({ path: { versionId: await flowVersion() } }),
    create_phone_number: async () => ({
      path: { projectId: context.projectId },
      body: { number: freshNumber(), flowId: await flow() },
    }),
    update_phone_number: async () => ({ path: { phoneNumberId: await phoneNumber() }, body: freshName() }),
    delete_phone_number: async () => ({ path: { phoneNumberId: await phoneNumber() } }),
    set_phone_number_flow: async () => ({
      path: { phoneNumberId: await phoneNumber() },
      body: { flowId: await flow() },
    }),
    create_agent_profile: async () => ({ path: { projectId: context.projectId }, body: { flowIds: [await flow()] } }),
    replace_agent_profile: async () => ({
      path: { agentProfileId: await agentProfile(true) },
      body: { flowIds: [await flow()] },
    }),
    delete_agent_profile: async () => {
      await agentProfile(true);
      return { path: { agentProfileId: await agentProfile(false) } };
    },
    update_template: async () => ({ path: { templateId: await template() }, body: freshName() }),
    archive_template: async () => ({ path: { templateId: await template() } }),
    create_template_version: async () => ({ path: { templateId: await template() } }),
    publish_template_version: async () => ({ path: { versionId: await templateVersion() } }),
    restore_template_version: async () => ({ path: { versionId: await templateVersion() } }),
    upgrade_instance: async () => {
      const templateId = await template();
      const instanceId = await instance(await published(templateId));
      return { path: { instanceId }, body: { targetTemplateVersionId: await published(templateId) } };
    },
    retry_instance: async () => ({ path: { instanceId: await undoneInstance() } }),
    set_instance_phone_number: async () => ({
      path: { instanceId: await instance(await published()), key: 'main' },
      body: { phoneNumberId: await phoneNumber() },
    }),
    delete_instance: async () => ({ path: { instanceId: await instance(await published()) } }),
    update_project: async () => ({ path: { projectId: context.projectId }, body: freshName() }),
    erase_personal_data: async () => ({ path: { organizationId: await customer() } }),
    create_api_key: async () => ({ path: { projectId: context.projectId } }),
    rotate_api_key: async () => ({ path: { keyId: await apiKey() } }),
    revoke_api_key: async () => ({ path: { keyId: await apiKey() } }),
    delete_file: async () => ({ path: { file_id: await file() } }),
    cancel_batch: async () => ({ path: { batch_id: await longBatch() } }),
    delete_store: async () => ({ path: { store_id: await store() } }),
    add_store_file: async () => ({ path: { store_id: await store() }, body: { file_id: await file() } }),
    remove_store_file: async () => {
      const [store_id, file_id] = [await store(), await file()];
      await call('add_store_file', { store_id }, { file_id });
      return { path: { store_id, file_id } };
    },
    update_webhook_endpoint: async () => ({
      path: { webhookEndpointId: await webhookEndpoint() },
      body: { description: freshName().name },
    }),
    delete_webhook_endpoint: async () => ({ path: { webhookEndpointId: await webhookEndpoint() } }),
    rotate_webhook_secret: async () => ({ path: { webhookEndpointId: await webhookEndpoint() } }),
    test_webhook_endpoint: async () => ({ path: { webhookEndpointId: await webhookEndpoint() } }),
    replay_webhook_endpoint: async () => ({ path: { webhookEndpointId: await webhookEndpoint() } }),
    rebuild_projection: async () => ({ path: { projection: await runningProjection('flows') } }),
    // No later event has a type that the endpoint receives, so nothing is sent to its host.
    create_webhook_endpoint: untouched,
  };
}
