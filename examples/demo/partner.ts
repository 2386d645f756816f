import * as t from 'io-ts';
import { AgentProfileRecord } from '#domain/agent-profile/record.ts';
import { ApiKeyWithSecret } from '#domain/api-key/record.ts';
import { FlowRecord, FlowVersionRecord } from '#domain/flow/record.ts';
import { InstanceDetails, InstanceRecord } from '#domain/instance/record.ts';
import { CustomerRecord } from '#domain/organization/record.ts';
import { PhoneNumberRecord } from '#domain/phone-number/record.ts';
import { TemplateVersionRecord } from '#domain/template/record.ts';
import { type DemoCustomer, greetingByHand, mainLineOfLindenhof, partnerName } from './content/customers.ts';
import { deliveryTracker } from './content/delivery-tracker.ts';
import { dentalReception } from './content/dental-reception.ts';
import { welcomeVersions } from './content/welcome.ts';
import { DemoError } from './demo-error.ts';
import type { PlatformClient } from './platform-client.ts';

/** A key that calls models, with its tenant. */
export interface CallingKey {
  readonly secret: string;
  readonly keyId: string;
  readonly organizationId: string;
  readonly projectId: string;
  readonly partnerId: string | null;
  /** In ms since 1970. */
  readonly createdAt: number;
}

const CreatedRecord = t.type({ id: t.string });
const CreatedCustomer = t.type({ organizationId: t.string });

const templates = { dentalReception, deliveryTracker };

/** An instance, and how many of its versions the customer has tried. */
interface MadeInstance {
  readonly customer: DemoCustomer;
  readonly key: CallingKey;
  readonly steps: number;
  readonly record: InstanceDetails;
}

/** The partner of the demo. Each method is one thing that it does, and returns a line about it. */
export class DemoPartner {
  readonly client: PlatformClient;
  readonly key: CallingKey;
  readonly #versions = { dentalReception: [] as string[], deliveryTracker: [] as string[] };
  readonly #templates = new Map<string, string>();
  readonly #instances = new Map<DemoCustomer, MadeInstance>();
  #welcome: { readonly flowId: string; readonly versions: string[] } | null = null;
  #profile: AgentProfileRecord | null = null;
  #testKey: string | null = null;

  private constructor(client: PlatformClient, key: CallingKey) {
    this.client = client;
    this.key = key;
  }

  /** Creates the partner with its project and its key. @param admin with an admin key */
  static async create(admin: PlatformClient): Promise<DemoPartner> {
    const organization = await admin.post('/v1/organizations', { name: partnerName, partner: true }, CreatedRecord);
    const { id: organizationId } = organization;
    const project = await admin.post('/v1/projects', { name: 'Workshop', organizationId }, CreatedRecord);
    const key = await createKey(admin, project.id, { name: 'Workshop', keyType: 'partner' });
    return new DemoPartner(admin.as(key.secret), { ...key, partnerId: organizationId });
  }

  /** The partner's own key, and one key of each customer. */
  get callingKeys(): ReadonlyArray<CallingKey> {
    return [this.key, ...Array.from(this.#instances.values(), ({ key }) => key)];
  }

  get welcomeId(): string {
    if (this.#welcome === null) throw new DemoError('The partner has no flow yet.');
    return this.#welcome.flowId;
  }

  instanceOf(customer: DemoCustomer): MadeInstance {
    const made = this.#instances.get(customer);
    if (made === undefined) throw new DemoError(`${customer.name} has no instance yet.`);
    return made;
  }

  versionOf(template: DemoCustomer['template'], version: number): string {
    const id = this.#versions[template][version - 1];
    if (id === undefined) throw new DemoError(`The template has no version ${version}.`);
    return id;
  }

  async publish(key: DemoCustomer['template']): Promise<string> {
    const { name, description, versions } = templates[key];
    const known = this.#templates.get(key);
    const templateId = known ?? (await this.client.post('/v1/templates', { name, description }, CreatedRecord)).id;
    this.#templates.set(key, templateId);
    const version = versions[this.#versions[key].length];
    if (version === undefined) throw new DemoError(`The template ${name} has no further version.`);
    const { id } = await this.client.post(`/v1/templates/${templateId}/versions`, version, CreatedRecord);
    await this.client.post(`/v1/template-versions/${id}/publish`, {}, TemplateVersionRecord);
    return `template ${name}: version ${this.#versions[key].push(id)} published`;
  }

  /** Adds a customer with a key and an instance. */
  async addCustomer(customer: DemoCustomer): Promise<string> {
    const { name, clientEmail, template, instanceName, versions } = customer;
    const [{ version, fieldValues }] = versions;
    const { organizationId } = await this.client.post('/v1/partner/customers', { name, clientEmail }, CreatedCustomer);
    const { projectId } = await this.client.get(`/v1/partner/customers/${organizationId}`, CustomerRecord);
    const key = await createKey(this.client, projectId, { name: 'Telephone system', keyType: 'organization' });
    const body = { projectId, name: instanceName, templateVersionId: this.versionOf(template, version), fieldValues };
    const { id } = await this.client.post('/v1/instances', body, InstanceRecord);
    const record = await this.#settled(id);
    const partnerId = this.key.organizationId;
    this.#instances.set(customer, { customer, key: { ...key, partnerId }, steps: 1, record });
    return `customer ${name}, instance ${instanceName}: version ${version} ${record.status}`;
  }

  /** Upgrades the customer's instance to the next version that the customer takes. */
  async upgrade(customer: DemoCustomer): Promise<string> {
    const made = this.instanceOf(customer);
    const step = customer.versions[made.steps];
    if (step === undefined) throw new DemoError(`The instance of ${customer.name} has no further version.`);
    const { version, fieldValues: newFieldValues } = step;
    const { id } = made.record;
    const body = { targetTemplateVersionId: this.versionOf(customer.template, version), newFieldValues };
    await this.client.post(`/v1/instances/${id}/upgrade`, body, InstanceRecord);
    const record = await this.#settled(id);
    this.#instances.set(customer, { ...made, steps: made.steps + 1, record });
    const { outcome, reason = null } = record.lastOperation ?? {};
    return `${customer.name}: upgrade to ${version} ${outcome}${reason === null ? '' : `: ${reason}`}`;
  }

  /** Its template requires a phone number. */
  async assignPhoneNumber(customer: DemoCustomer): Promise<string> {
    const { record } = this.instanceOf(customer);
    const body = { ...mainLineOfLindenhof, flowId: flowOf(record, 'greeting') };
    const number = await this.#addNumber(record.projectId, body);
    const key = record.phoneNumberRequirements[0]?.key ?? '';
    const path = `/v1/instances/${record.id}/phone-number-requirements/${key}`;
    await this.client.put(path, { phoneNumberId: number.id }, InstanceRecord);
    return `${customer.name}: phone number ${number.number} meets what its template requires`;
  }

  /** Changes the greeting as the customer itself, with its own key. */
  async changeGreeting(customer: DemoCustomer): Promise<string> {
    const { key, record } = this.instanceOf(customer);
    await saveFlow(this.client.as(key.secret), flowOf(record, 'greeting'), greetingByHand);
    return `${customer.name}: changes its greeting by hand, with a key of its own`;
  }

  /** Changes the partner's own flow. */
  async changeWelcome(): Promise<string> {
    const { projectId } = this.key;
    if (this.#welcome === null) {
      const body = {
        name: 'Welcome',
        description: 'Answers the number of Parley Voice',
        flowSchema: welcomeVersions[0],
      };
      const flow = await this.client.post(`/v1/projects/${projectId}/flows`, body, FlowRecord);
      this.#welcome = { flowId: flow.id, versions: [flow.activeVersion?.id ?? ''] };
      return 'flow Welcome: version 1';
    }
    const { flowId, versions } = this.#welcome;
    const { id } = await saveFlow(this.client, flowId, welcomeVersions[versions.length % welcomeVersions.length]);
    return `flow Welcome: version ${versions.push(id)}`;
  }

  /** Activates an older version of the partner's own flow. */
  async rollBackWelcome(version: number): Promise<string> {
    const id = this.#welcome?.versions[version - 1];
    if (id === undefined) throw new DemoError(`The flow Welcome has no version ${version}.`);
    await this.client.post(`/v1/flow-versions/${id}/activate`, {}, FlowVersionRecord);
    return `flow Welcome: back to version ${version}`;
  }

  /** Adds a number of the partner itself. It leads to the partner's own flow. */
  async addNumber(name: string, number: string): Promise<string> {
    const flowId = this.#welcome?.flowId ?? null;
    await this.#addNumber(this.key.projectId, { name, number, status: 'enabled', flowId });
    return `phone number ${number}, ${name}`;
  }

  async speak(...languages: ReadonlyArray<string>): Promise<string> {
    const contents = {
      name: 'Concierge',
      flowIds: this.#welcome === null ? [] : [this.#welcome.flowId],
      isDefault: true,
      supportedInputLanguages: languages,
      reasoningMode: 'balanced',
      outputVoiceId: 'narrator',
    };
    this.#profile =
      this.#profile === null
        ? await this.client.post(`/v1/projects/${this.key.projectId}/agent-profiles`, contents, AgentProfileRecord)
        : await this.client.put(`/v1/agent-profiles/${this.#profile.id}`, contents, AgentProfileRecord);
    return `agent profile Concierge: ${languages.join(', ')}`;
  }

  async switchTestKey(): Promise<string> {
    if (this.#testKey !== null) {
      await this.client.delete(`/v1/keys/${this.#testKey}`);
      return 'key Nightly tests: revoked';
    }
    const { keyId } = await createKey(this.client, this.key.projectId, { name: 'Nightly tests', keyType: 'project' });
    this.#testKey = keyId;
    return 'key Nightly tests';
  }

  #addNumber(projectId: string, body: object): Promise<PhoneNumberRecord> {
    return this.client.post(`/v1/projects/${projectId}/phone-numbers`, body, PhoneNumberRecord);
  }

  /** Waits until an instance has no running operation. */
  #settled(id: string): Promise<InstanceDetails> {
    return this.client.readUntil(`/v1/instances/${id}`, InstanceDetails, ({ operation }) => operation === null);
  }
}

async function createKey(
  client: PlatformClient,
  projectId: string,
  body: { readonly name: string; readonly keyType: string },
): Promise<CallingKey> {
  const made = await client.post(`/v1/projects/${projectId}/keys`, body, ApiKeyWithSecret);
  const { id: keyId, key: secret = '', organizationId } = made;
  return { secret, keyId, organizationId, projectId, partnerId: null, createdAt: Date.parse(made.createdAt) };
}

async function saveFlow(client: PlatformClient, flowId: string, flowSchema: unknown): Promise<FlowVersionRecord> {
  const version = await client.post(`/v1/flows/${flowId}/versions`, { flowSchema }, FlowVersionRecord);
  return client.post(`/v1/flow-versions/${version.id}/activate`, {}, FlowVersionRecord);
}

function flowOf({ resources }: InstanceDetails, key: string): string {
  const flow = resources.flows.find((each) => each.key === key);
  if (flow === undefined) throw new DemoError(`The instance has no flow "${key}".`);
  return flow.flowId;
}
