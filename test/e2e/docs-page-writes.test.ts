import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { describeInBrowser } from '#test/support/service/chromium.ts';
import { adminKey, poll } from '#test/support/service/service-process.ts';
import { DocsPage, type FormInput } from './support/docs-page.ts';
import { DocumentedOperations } from './support/documented-operations.ts';
import { runningService } from './support/running-service.ts';
import { uploadText } from './support/upload.ts';

type Named = { readonly id: string };
interface Instance extends Named {
  readonly operation: object | null;
  readonly lastOperation: { readonly outcome: string } | null;
}

/** The limit of a wait for processes. It only keeps a test from hanging. */
const maxWaitMs = 120_000;

const signingKey = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
const line = (id: number) =>
  JSON.stringify({
    custom_id: `line-${id}`,
    method: 'POST',
    url: '/v1/chat/completions',
    body: { model: 'auto', reasoning: 'fast', messages: [{ role: 'user', content: 'Hello' }] },
  });
const linesFile = { name: 'input.jsonl', mimeType: 'application/jsonl', buffer: Buffer.from(line(1)) };
const speechFile = { name: 'speech.mp3', mimeType: 'audio/mpeg', buffer: Buffer.from('ID3 some speech') };

/** The port of an obsolete service that machines no longer run. */
const closedPort = 'http://127.0.0.1:9/hooks';

/** So many lines that a batch runs far longer, one line at a time, than the page needs to cancel it. */
const linesOfLongBatch = 20_000;

describeInBrowser('"Try it out" on the documentation page @long', () => {
  const running = runningService(
    { quick: true, environment: () => ({}) },
    // The service then does not resolve the host of a webhook endpoint, so the test needs no name server.
    { DIGEST_SIGNING_KEY: signingKey, BATCH_CALLS_AT_ONCE: '1', WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true' },
  );
  let docs: DocsPage;
  let operations: DocumentedOperations;
  let projectId: string;
  let numbers = 0;

  before(async () => {
    operations = await DocumentedOperations.of(running.client);
    projectId = (await running.client.get<{ projectId: string }>('/v1/me')).body.projectId;
    docs = await DocsPage.launch();
    await docs.open(running.url);
    await docs.authorize(adminKey);
  });
  after(() => docs?.close());

  const flow = async () => (await operations.call('create_flow', { projectId })).id;
  const flowVersion = async () => (await operations.call('create_flow_version', { flowId: await flow() })).id;
  const phoneNumber = async () => {
    numbers += 1;
    const members = { number: `line ${numbers}`, flowId: null };
    return (await operations.call('create_phone_number', { projectId }, members)).id;
  };
  const agentProfile = async (isDefault: boolean) =>
    (await operations.call('create_agent_profile', { projectId }, { flowIds: [], isDefault })).id;
  const template = async () => (await operations.call('create_template')).id;
  const templateVersion = async (templateId?: string, members = {}) =>
    (await operations.call('create_template_version', { templateId: templateId ?? (await template()) }, members)).id;
  const published = async (templateId?: string, members = {}) => {
    const versionId = await templateVersion(templateId, members);
    return (await operations.call('publish_template_version', { versionId })).id;
  };
  const settled = async (instanceId: string): Promise<Instance> => {
    const found = await poll(async () => {
      const now = await operations.call<Instance>('get_instance', { instanceId });
      return now.operation === null ? now : null;
    }, maxWaitMs);
    return found ?? assert.fail('the operation on the instance does not end');
  };
  const instance = async (templateVersionId: string) =>
    (await settled((await operations.call('create_instance', {}, { templateVersionId, projectId })).id)).id;
  /** An instance whose upgrade was undone: a flow schema would have been longer than a mebibyte. */
  const undoneInstance = async () => {
    const templateId = await template();
    const instanceId = await instance(await published(templateId));
    const say = '{{fields.practice_name}}'.repeat(300);
    const long = { key: 'long', name: 'Long', flowType: 'simple', flowSchema: { say } };
    const targetTemplateVersionId = await published(templateId, { payload: { flows: [long] } });
    const newFieldValues = { practice_name: 'x'.repeat(5_000) };
    await operations.call('upgrade_instance', { instanceId }, { targetTemplateVersionId, newFieldValues });
    assert.equal((await settled(instanceId)).lastOperation?.outcome, 'undone');
    return instanceId;
  };
  const customer = async () => (await operations.call<{ organizationId: string }>('create_customer')).organizationId;
  const apiKey = async () => (await operations.call('create_api_key', { projectId })).id;
  const file = async (content = line(1), purpose = 'batch') =>
    (await uploadText(running.client, content, { filename: 'input.jsonl', purpose })).id;
  const store = async () => (await operations.call('create_store')).id;
  const longBatch = async () => {
    const lines = Array.from({ length: linesOfLongBatch }, (_, index) => line(index)).join('\n');
    return (await operations.call('create_batch', {}, { input_file_id: await file(lines) })).id;
  };
  const webhookEndpoint = async () => (await operations.call('create_webhook_endpoint', {}, { url: closedPort })).id;

  const untouched = async (): Promise<FormInput> => ({});

  /** The input of each operation, after the needed resources were created. */
  const inputs: Readonly<Record<string, () => Promise<FormInput>>> = {
    create_template: untouched,
    create_project: untouched,
    create_organization: untouched,
    create_customer: untouched,
    create_store: untouched,
    complete_chat: untouched,
    create_speech: untouched,
    write_digest: untouched,
    archive_usage: untouched,
    end_api_key_secrets: untouched,
    // Values that a browser cannot know: the file, and ids in the body.
    create_file: async () => ({ file: linesFile }),
    create_transcription: async () => ({ file: speechFile }),
    create_batch: async () => ({ body: { input_file_id: await file() } }),
    create_instance: async () => ({ body: { templateVersionId: await published(), projectId } }),

    create_flow: async () => ({ path: { projectId } }),
    update_flow: async () => ({ path: { flowId: await flow() } }),
    delete_flow: async () => ({ path: { flowId: await flow() } }),
    change_flow_tier: async () => ({ path: { flowId: await flow() } }),
    create_flow_version: async () => ({ path: { flowId: await flow() } }),
    tag_flow_version: async () => ({ path: { versionId: await flowVersion() } }),
    delete_flow_version: async () => ({ path: { versionId: await flowVersion() } }),
    activate_flow_version: async () => ({ path: { versionId: await flowVersion() } }),
    restore_flow_version: async () => ({ path: { versionId: await flowVersion() } }),
    create_phone_number: async () => ({ path: { projectId }, body: { flowId: await flow() } }),
    update_phone_number: async () => ({ path: { phoneNumberId: await phoneNumber() } }),
    delete_phone_number: async () => ({ path: { phoneNumberId: await phoneNumber() } }),
    set_phone_number_flow: async () => ({
      path: { phoneNumberId: await phoneNumber() },
      body: { flowId: await flow() },
    }),
    create_agent_profile: async () => ({ path: { projectId }, body: { flowIds: [await flow()] } }),
    replace_agent_profile: async () => ({
      path: { agentProfileId: await agentProfile(true) },
      body: { flowIds: [await flow()] },
    }),
    delete_agent_profile: async () => {
      await agentProfile(true);
      return { path: { agentProfileId: await agentProfile(false) } };
    },
    update_template: async () => ({ path: { templateId: await template() } }),
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
    update_project: async () => ({ path: { projectId } }),
    erase_personal_data: async () => ({ path: { organizationId: await customer() } }),
    create_api_key: async () => ({ path: { projectId } }),
    rotate_api_key: async () => ({ path: { keyId: await apiKey() } }),
    revoke_api_key: async () => ({ path: { keyId: await apiKey() } }),
    delete_file: async () => ({ path: { file_id: await file() } }),
    cancel_batch: async () => ({ path: { batch_id: await longBatch() } }),
    delete_store: async () => ({ path: { store_id: await store() } }),
    add_store_file: async () => ({ path: { store_id: await store() }, body: { file_id: await file() } }),
    remove_store_file: async () => {
      const [store_id, file_id] = [await store(), await file()];
      await operations.call('add_store_file', { store_id }, { file_id });
      return { path: { store_id, file_id } };
    },
    update_webhook_endpoint: async () => ({ path: { webhookEndpointId: await webhookEndpoint() } }),
    delete_webhook_endpoint: async () => ({ path: { webhookEndpointId: await webhookEndpoint() } }),
    rotate_webhook_secret: async () => ({ path: { webhookEndpointId: await webhookEndpoint() } }),
    test_webhook_endpoint: async () => ({ path: { webhookEndpointId: await webhookEndpoint() } }),
    replay_webhook_endpoint: async () => ({ path: { webhookEndpointId: await webhookEndpoint() } }),
    rebuild_projection: async () => ({ path: { projection: 'flows' } }),
    // No later event has a type that the endpoint receives, so nothing is sent to its host.
    create_webhook_endpoint: untouched,
  };

  /** The operations that a healthy service refuses because nothing has stopped, with the codes of the refusals. */
  const refused: Readonly<Record<string, { readonly path: FormInput['path']; readonly code: string }>> = {
    retry_projection: { path: { projection: 'stores' }, code: 'projection-not-stopped' },
    skip_projection_event: { path: { projection: 'stores' }, code: 'projection-not-stopped' },
    retry_process: { path: { process: 'detach-phone-numbers' }, code: 'process-not-stopped' },
    skip_process_event: { path: { process: 'detach-phone-numbers' }, code: 'process-not-stopped' },
  };

  const tryOut = (name: string, input: FormInput) =>
    docs.tryOut(operations.specification, operations.named(name), input);

  it('has a test for every write of the specification', () => {
    assert.deepEqual([...operations.writes].toSorted(), [...Object.keys(inputs), ...Object.keys(refused)].toSorted());
  });

  for (const [name, input] of Object.entries(inputs))
    it(`executes ${name}`, async () => {
      const { status, text } = await tryOut(name, await input());
      assert.ok([200, 201, 204].includes(status), text);
    });

  for (const [name, { path = {}, code }] of Object.entries(refused))
    it(`shows why ${name} is refused while nothing is stopped`, async () => {
      const { status, text } = await tryOut(name, { path });
      assert.equal(status, 409, text);
      assert.ok(text.includes(`"${code}"`), text);
    });

  it('plays speech from an answer', async () => {
    await docs.open(running.url);
    await tryOut('create_speech', {});
    assert.ok(await docs.canPlay());
  });

  it('sends an object in a form in the notation that the service reads', async () => {
    await docs.open(running.url);
    const { text } = await tryOut('create_file', { file: linesFile });
    assert.match(text, /"expires_at": \d+/);
  });

  it('runs without an error in the browser', () => assert.deepEqual(docs.faults, []));
});
