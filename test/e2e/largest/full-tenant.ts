import { setTimeout as sleep } from 'node:timers/promises';
import type { DocumentedOperations } from '#test/e2e/support/documented-operations.ts';
import { uploadText } from '#test/e2e/support/upload.ts';
import { linesFile } from '#test/e2e/support/write-inputs.ts';
import type { Client } from '#test/support/service/client.ts';
import { LargestRequests } from './largest-requests.ts';
import type { Random } from './random-values.ts';
import { fileBytes } from './streaming-requests.ts';

type Named = { readonly id: string };
type Parameters = Readonly<Record<string, string>>;

/** Of resources that have no member without a limit. */
const smallSize = { bytes: 0, values: 0 };
const manySize = { bytes: 60 * 1024, values: 3_500 };
/** The resources of `manySize` that fill a page of 2 MiB, with more that follow. */
const many = 42;
/** The resources of the largest size that fill a page. Histories begin with them, lists with the others. */
const largestOfPage = 3;
/** One more than a page may hold. */
const moreThanPage = 1_001;
/** Maximum webhook endpoints of a project. */
const maxEndpoints = 100;
const callsAtOnce = 8;
/** Longer ones are cut. */
const longFilename = '\u{1f4de}'.repeat(255);

/** Resources whose lists, histories and records are at their largest. Each is made when it is first asked for. */
export class FullTenant {
  readonly #client: Client;
  readonly #largest: LargestRequests;
  readonly #many: LargestRequests;
  readonly #small: LargestRequests;
  readonly #projectId: string;
  readonly #made = new Map<string, Promise<string>>();

  constructor(client: Client, operations: DocumentedOperations, random: Random, projectId: string) {
    this.#client = client;
    this.#projectId = projectId;
    this.#largest = new LargestRequests(client, operations, random);
    this.#many = new LargestRequests(client, operations, random, manySize);
    this.#small = new LargestRequests(client, operations, random, smallSize);
  }

  /** A project with more flows than fit in a page. */
  projectOfFlows = this.#once('flows', async () => {
    await this.#times(130, () => this.#createSmall('create_flow', { projectId: this.#projectId }));
    return this.#projectId;
  });

  projectOfPhoneNumbers = this.#once('phone numbers', async () => {
    await this.#times(many, (index) =>
      this.#create('create_phone_number', { projectId: this.#projectId }, { number: `line ${index}`, flowId: null }),
    );
    return this.#projectId;
  });

  projectOfAgentProfiles = this.#once('agent profiles', async () => {
    const members = { flowIds: [], isDefault: false };
    await this.#times(many, () => this.#create('create_agent_profile', { projectId: this.#projectId }, members));
    return this.#projectId;
  });

  projectOfKeys = this.#once('keys', async () => {
    await this.#times(moreThanPage, () => this.#createSmall('create_api_key', { projectId: this.#projectId }));
    return this.#projectId;
  });

  /** The largest response that is stored: its input and its output are one text. */
  largestResponse = this.#once('response', () => this.#respond('x'.repeat(3_900_000)));

  /** Of turns that together are nearly as large as a body may be. */
  longestConversation = this.#once('conversation', async () => {
    let last = await this.#respond('y'.repeat(3_000_000));
    for (let turn = 0; turn < 2; turn += 1) last = await this.#respond('y'.repeat(3_000_000), last);
    return last;
  });

  projectOfResponses = this.#once('responses', async () => {
    await this.#times(300, () => this.#respond('Hello'));
    return this.#projectId;
  });

  /** The largest flow of a single version. */
  largestFlow = this.#once('flow', () => this.#createLargest('create_flow', { projectId: this.#projectId }));

  /** A flow with more versions, and more changes, than fit in a page. */
  flowOfVersions = this.#once('flow of versions', async () => {
    const flowId = await this.#create('create_flow', { projectId: this.#projectId });
    await this.#times(many, () => this.#create('create_flow_version', { flowId }));
    await this.#times(largestOfPage, () => this.#createLargest('create_flow_version', { flowId }));
    return flowId;
  });

  largestFlowVersion = this.#once('flow version', async () =>
    this.#createLargest('create_flow_version', { flowId: await this.largestFlow() }),
  );

  /** A second largest version of the same flow. */
  otherFlowVersion = this.#once('other flow version', async () =>
    this.#createLargest('create_flow_version', { flowId: await this.largestFlow() }),
  );

  phoneNumber = this.#once('phone number', () =>
    this.#createLargest('create_phone_number', { projectId: this.#projectId }, { number: 'largest', flowId: null }),
  );

  /** A profile with more changes than fit in a page. */
  agentProfile = this.#once('agent profile', async () => {
    const members = { flowIds: [], isDefault: true };
    const agentProfileId = await this.#create('create_agent_profile', { projectId: this.#projectId }, members);
    await this.#times(many, () => this.#many.call('replace_agent_profile', { agentProfileId }, members));
    await this.#times(largestOfPage, () => this.#largest.call('replace_agent_profile', { agentProfileId }, members));
    return agentProfileId;
  });

  listOfTemplates = this.#once('templates', async () => {
    await this.#times(300, () => this.#createSmall('create_template'));
    return '';
  });

  /** A template with more versions, and more changes, than fit in a page. */
  templateOfVersions = this.#once('template of versions', async () => {
    const templateId = await this.#create('create_template');
    await this.#times(many, () => this.#create('create_template_version', { templateId }));
    await this.#times(largestOfPage, () => this.#createLargest('create_template_version', { templateId }));
    return templateId;
  });

  largestTemplateVersion = this.#once('template version', async () =>
    this.#createLargest('create_template_version', { templateId: await this.templateOfVersions() }),
  );

  otherTemplateVersion = this.#once('other template version', async () =>
    this.#createLargest('create_template_version', { templateId: await this.templateOfVersions() }),
  );

  async #respond(input: string, previous: string | null = null): Promise<string> {
    const body = { model: 'sandbox', input, previous_response_id: previous };
    return (await this.#small.call('create_response', {}, body)).id;
  }

  /** Signs what has changed, so that histories have proofs. */
  async signDigest(): Promise<void> {
    await this.#small.call('write_digest');
  }

  readonly #template = this.#once('template', () => this.#create('create_template'));

  /** The version of the instance. */
  publishedVersion = this.#once('published version', async () => this.#published(this.#largest, this.#template));

  /** A version that the instance can be upgraded to. */
  targetVersion = this.#once('target version', async () => this.#published(this.#largest, this.#template));

  instance = this.#once('instance', async () => this.#newInstance(this.#largest));

  listOfInstances = this.#once('instances', async () => {
    await this.#times(many, () => this.#newInstance(this.#many));
    return '';
  });

  listOfProjects = this.#once('projects', () => this.#fill('create_project'));
  listOfOrganizations = this.#once('organizations', () => this.#fill('create_organization'));
  listOfCustomers = this.#once('customers', () => this.#fill('create_customer'));

  project = this.#once('project', async () => {
    const projectId = await this.#createSmall('create_project');
    await this.#times(200, (index) => this.#small.call('update_project', { projectId }, { name: `Name ${index}` }));
    return projectId;
  });

  organization = this.#once('organization', () => this.#createLargest('create_organization'));
  customer = this.#once('customer', async () => {
    return (await this.#largest.call<{ readonly organizationId: string }>('create_customer')).organizationId;
  });
  apiKey = this.#once('key', () => this.#createLargest('create_api_key', { projectId: this.#projectId }));

  listOfFiles = this.#once('files', async () => {
    await this.#times(2_200, () => this.#upload(longFilename));
    return '';
  });

  largestFile = this.#once('file', async () => {
    return (await uploadText(this.#client, 'x'.repeat(fileBytes), { filename: longFilename })).id;
  });

  /** More calls of one request id than a page has. @returns the id */
  listOfCalls = this.#once('calls', async () => {
    const requestId = 'largest';
    const chat = { model: 'sandbox', messages: [{ role: 'user', content: 'hi' }] };
    // A second has room for some hundreds of calls of a project.
    for (let round = 0; round < 6; round += 1) {
      await this.#times(moreThanPage / 5, () =>
        this.#client.post('/v1/chat/completions', chat, { 'x-request-id': requestId }),
      );
      await sleep(1_100);
    }
    return requestId;
  });

  batch = this.#once('batch', () => this.#newBatch());
  listOfBatches = this.#once('batches', async () => {
    await this.#times(140, () => this.#newBatch());
    return '';
  });

  store = this.#once('store', () => this.#createLargest('create_store'));
  listOfStores = this.#once('stores', async () => {
    await this.#times(many, () => this.#create('create_store'));
    return '';
  });

  /** A store with files. */
  storeOfFiles = this.#once('store of files', async () => {
    const store_id = await this.#create('create_store');
    await this.#times(moreThanPage, async () => {
      await this.#small.call('add_store_file', { store_id }, { file_id: await this.#upload('small') });
    });
    return store_id;
  });

  fileInStore = this.#once('file in store', async () => {
    const file_id = await this.#upload(longFilename);
    await this.#small.call('add_store_file', { store_id: await this.store() }, { file_id });
    return file_id;
  });

  webhookEndpoint = this.#once('webhook endpoint', () => this.#createLargest('create_webhook_endpoint'));
  listOfWebhookEndpoints = this.#once('webhook endpoints', async () => {
    await this.#times(maxEndpoints - 10, () => this.#createSmall('create_webhook_endpoint'));
    return '';
  });

  readonly #smallVersion = this.#once('small version', async () => this.#published(this.#many, this.#template));

  async #published(requests: LargestRequests, template: () => Promise<string>): Promise<string> {
    const { id: versionId } = await requests.call('create_template_version', { templateId: await template() });
    return (await requests.call('publish_template_version', { versionId })).id;
  }

  async #newInstance(requests: LargestRequests): Promise<string> {
    const version = requests === this.#largest ? this.publishedVersion : this.#smallVersion;
    const members = { templateVersionId: await version(), projectId: this.#projectId };
    return (await requests.call('create_instance', {}, members)).id;
  }

  async #newBatch(): Promise<string> {
    const content = linesFile.buffer.toString();
    const { id } = await uploadText(this.#client, content, { filename: 'input.jsonl', purpose: 'batch' });
    return (await this.#small.call('create_batch', {}, { input_file_id: id })).id;
  }

  async #upload(filename: string): Promise<string> {
    return (await uploadText(this.#client, 'content', { filename })).id;
  }

  async #fill(operation: string): Promise<string> {
    await this.#times(moreThanPage, () => this.#small.call(operation));
    return '';
  }

  async #create(operation: string, parameters: Parameters = {}, members: object = {}): Promise<string> {
    return (await this.#many.call<Named>(operation, parameters, members)).id;
  }

  async #createSmall(operation: string, parameters: Parameters = {}): Promise<string> {
    return (await this.#small.call<Named>(operation, parameters)).id;
  }

  async #createLargest(operation: string, parameters: Parameters = {}, members: object = {}): Promise<string> {
    return (await this.#largest.call<Named>(operation, parameters, members)).id;
  }

  async #times(times: number, make: (index: number) => Promise<unknown>): Promise<void> {
    let next = 0;
    const callNext = async () => {
      for (let index = next++; index < times; index = next++) await make(index);
    };
    await Promise.all(Array.from({ length: callsAtOnce }, callNext));
  }

  #once(what: string, make: () => Promise<string>): () => Promise<string> {
    return () => {
      const made = this.#made.get(what) ?? make();
      this.#made.set(what, made);
      return made;
    };
  }
}
