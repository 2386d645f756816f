import * as t from 'io-ts';
import { FlowVersionRecord } from '#domain/flow/record.ts';
import { InstanceDetails, InstanceRecord } from '#domain/instance/record.ts';
import { CustomerRecord } from '#domain/organization/record.ts';
import { PhoneNumberRecord } from '#domain/phone-number/record.ts';
import { TemplateVersionRecord } from '#domain/template/record.ts';
import {
  customers,
  type DemoCustomer,
  greetingByHand,
  mainLineOfLindenhof,
  partnerName,
  type StepOfInstance,
} from './content/customers.ts';
import { deliveryTracker } from './content/delivery-tracker.ts';
import type { DemoTemplate } from './content/demo-template.ts';
import { dentalReception } from './content/dental-reception.ts';
import { DemoError } from './demo-error.ts';
import type { PlatformClient } from './platform-client.ts';

/** Receives the progress line by line. */
export type Print = (line: string) => void;

/** The created resources that the demo shows. */
export interface Filled {
  readonly partnerKey: string;
  /** The key of Harbour Street Dental. */
  readonly customerKey: string;
  /** The ids of the instances. */
  readonly upgraded: string;
  readonly changedByHand: string;
  readonly notUpgraded: string;
  readonly undone: string;
  /** The newest version of each template. */
  readonly newestReception: string;
  readonly newestTracker: string;
}

/** The part of a partner that its customers need. */
interface Partner {
  readonly client: PlatformClient;
  readonly key: string;
  /** The ids of the templates' versions, version 1 first. */
  readonly versions: Readonly<Record<DemoCustomer['template'], ReadonlyArray<string>>>;
}

const CreatedRecord = t.type({ id: t.string });
const CreatedKey = t.type({ key: t.string });
const CreatedCustomer = t.type({ organizationId: t.string });

/**
 * Fills a platform through its public API: a partner, its templates, its customers and their instances.
 * @param admin holds an admin key of a platform that is empty
 * @throws DemoError
 */
export async function fillPlatform(admin: PlatformClient, print: Print): Promise<Filled> {
  const partner = await makePartner(admin, print);
  const upgraded = await makeCustomer(partner, customers.lindenhof, print);
  await assignPhoneNumber(partner, upgraded, print);
  const changedByHand = await makeCustomer(partner, customers.harbourStreet, print);
  const customerKey = await changeGreeting(partner, changedByHand, print);
  const notUpgraded = await makeCustomer(partner, customers.okafor, print);
  await makeCustomer(partner, customers.kestrel, print);
  const undone = await makeCustomer(partner, customers.avonValley, print);
  if (undone.lastOperation?.outcome !== 'undone') throw new DemoError('The upgrade that is to be undone was not.');
  return {
    partnerKey: partner.key,
    customerKey,
    upgraded: upgraded.id,
    changedByHand: changedByHand.id,
    notUpgraded: notUpgraded.id,
    undone: undone.id,
    newestReception: versionOf(partner, 'dentalReception', dentalReception.versions.length),
    newestTracker: versionOf(partner, 'deliveryTracker', deliveryTracker.versions.length),
  };
}

async function makePartner(admin: PlatformClient, print: Print): Promise<Partner> {
  const organization = await admin.post('/v1/organizations', { name: partnerName, partner: true }, CreatedRecord);
  const project = await admin.post(
    '/v1/projects',
    { name: 'Workshop', organizationId: organization.id },
    CreatedRecord,
  );
  const body = { name: 'Workshop', keyType: 'partner' };
  const { key } = await admin.post(`/v1/projects/${project.id}/keys`, body, CreatedKey);
  print(`partner ${partnerName}, with a project and a key`);
  const client = admin.as(key);
  const versions = {
    dentalReception: await publish(client, dentalReception, print),
    deliveryTracker: await publish(client, deliveryTracker, print),
  };
  return { client, key, versions };
}

/** @returns the ids of the versions */
async function publish(
  partner: PlatformClient,
  { name, description, versions }: DemoTemplate,
  print: Print,
): Promise<ReadonlyArray<string>> {
  const template = await partner.post('/v1/templates', { name, description }, CreatedRecord);
  const ids: string[] = [];
  for (const version of versions) {
    const { id } = await partner.post(`/v1/templates/${template.id}/versions`, version, CreatedRecord);
    await partner.post(`/v1/template-versions/${id}/publish`, {}, TemplateVersionRecord);
    ids.push(id);
  }
  print(`template ${name}: versions 1 to ${versions.length}, published`);
  return ids;
}

/** Creates a customer and its instance, and upgrades that through its versions. @returns the final instance */
async function makeCustomer(partner: Partner, customer: DemoCustomer, print: Print): Promise<InstanceDetails> {
  const { client } = partner;
  const { name, clientEmail, template, instanceName, versions } = customer;
  const { organizationId } = await client.post('/v1/partner/customers', { name, clientEmail }, CreatedCustomer);
  const { projectId } = await client.get(`/v1/partner/customers/${organizationId}`, CustomerRecord);
  const [first, ...later] = versions;
  const body = { projectId, name: instanceName, templateVersionId: versionOf(partner, template, first.version) };
  const made = await client.post('/v1/instances', { ...body, fieldValues: first.fieldValues }, InstanceRecord);
  let instance = await settled(client, made.id);
  const outcomes = [`version ${first.version} ${instance.status}`];
  for (const step of later) {
    instance = await upgrade(partner, customer, instance.id, step);
    outcomes.push(`upgrade to ${step.version} ${instance.lastOperation?.outcome}`);
  }
  print(`customer ${name}, instance ${instanceName}: ${outcomes.join(', ')}`);
  const reason = instance.lastOperation?.reason ?? null;
  if (reason !== null) print(`  because: ${reason}`);
  return instance;
}

async function upgrade(
  partner: Partner,
  { template }: DemoCustomer,
  id: string,
  { version, fieldValues: newFieldValues }: StepOfInstance,
): Promise<InstanceDetails> {
  const body = { targetTemplateVersionId: versionOf(partner, template, version), newFieldValues };
  await partner.client.post(`/v1/instances/${id}/upgrade`, body, InstanceRecord);
  return settled(partner.client, id);
}

/** Waits until an instance has no running operation. */
function settled(client: PlatformClient, id: string): Promise<InstanceDetails> {
  return client.readUntil(`/v1/instances/${id}`, InstanceDetails, ({ operation }) => operation === null);
}

async function assignPhoneNumber({ client }: Partner, instance: InstanceDetails, print: Print): Promise<void> {
  const { id, projectId, phoneNumberRequirements } = instance;
  const body = { ...mainLineOfLindenhof, flowId: flowOf(instance, 'greeting') };
  const number = await client.post(`/v1/projects/${projectId}/phone-numbers`, body, PhoneNumberRecord);
  const key = phoneNumberRequirements[0]?.key ?? '';
  const path = `/v1/instances/${id}/phone-number-requirements/${key}`;
  await client.put(path, { phoneNumberId: number.id }, InstanceRecord);
  print(`  phone number ${number.number} meets what its template requires`);
}

/** Changes the greeting as the customer itself, with its own key. @returns the key */
async function changeGreeting({ client }: Partner, instance: InstanceDetails, print: Print): Promise<string> {
  const body = { name: 'Office', keyType: 'organization' };
  const { key } = await client.post(`/v1/projects/${instance.projectId}/keys`, body, CreatedKey);
  const customer = client.as(key);
  const flow = `/v1/flows/${flowOf(instance, 'greeting')}`;
  const version = await customer.post(`${flow}/versions`, { flowSchema: greetingByHand }, FlowVersionRecord);
  await customer.post(`/v1/flow-versions/${version.id}/activate`, {}, FlowVersionRecord);
  print('  with a key of its own it changed the greeting by hand');
  return key;
}

function flowOf({ resources }: InstanceDetails, key: string): string {
  const flow = resources.flows.find((each) => each.key === key);
  if (flow === undefined) throw new DemoError(`The instance has no flow "${key}".`);
  return flow.flowId;
}

function versionOf({ versions }: Partner, template: DemoCustomer['template'], version: number): string {
  const id = versions[template][version - 1];
  if (id === undefined) throw new DemoError(`The template has no version ${version}.`);
  return id;
}
