import assert from 'node:assert/strict';
import { createInstance } from '#commands/instance/create-instance.ts';
import { deleteInstance } from '#commands/instance/delete-instance.ts';
import { retryInstance } from '#commands/instance/retry-instance.ts';
import { upgradeInstance } from '#commands/instance/upgrade-instance.ts';
import { createTemplate } from '#commands/template/create-template.ts';
import { createTemplateVersion } from '#commands/template-version/create-template-version.ts';
import { publishTemplateVersion } from '#commands/template-version/publish-template-version.ts';
import { instanceRecord } from '#domain/instance/instance.ts';
import type { InstanceRecord } from '#domain/instance/record.ts';
import { provisionInstances } from '#processes/provision-instances.ts';
import type { AgentProfileDocument } from '#projections/agent-profiles.ts';
import type { StoreDocument } from '#projections/files/stores.ts';
import type { FlowVersionDocument } from '#projections/flow-versions.ts';
import type { FlowDocument } from '#projections/flows.ts';
import type { InstanceDocument } from '#projections/instances.ts';
import type { Json, JsonObject } from '#shared/json/json.ts';
import { Service } from '#test/support/harness/in-memory-service.ts';
import { ProcessDriver } from '#test/support/harness/process-harness.ts';
import { seedProjects } from '#test/support/harness/seed.ts';
import { callerOf, ids } from './tenants.ts';

const everything = { limit: 1e6, maxBytes: 1e9 };

/** A partner with a template, a customer's project, and a process that the test runs event by event. */
export class InstanceScenario {
  service: Service;
  driver: ProcessDriver;
  templateId = '';
  readonly partner = callerOf('partner');

  constructor(service: Service, position = 0) {
    this.service = service;
    this.driver = new ProcessDriver(provisionInstances(), service, position);
  }

  static async begin(): Promise<InstanceScenario> {
    const scenario = new InstanceScenario(new Service());
    await seedProjects(scenario.service.store);
    scenario.templateId = await scenario.template();
    return scenario;
  }

  /** Returns a scenario on the same log with a new process, by default from the log's beginning. */
  restarted(position = 0): InstanceScenario {
    const scenario = new InstanceScenario(this.service.restarted(), position);
    scenario.templateId = this.templateId;
    return scenario;
  }

  async template(): Promise<string> {
    const { body } = await this.service.ok(createTemplate, {}, { caller: this.partner, body: { name: 'Practice' } });
    return String(body.id);
  }

  /** Adds a version to the template and publishes it. @returns its id */
  async version(body: JsonObject, published = true, templateId = this.templateId): Promise<string> {
    const caller = this.partner;
    const made = await this.service.ok(createTemplateVersion, { templateId }, { caller, body });
    const versionId = String(made.body.id);
    if (published) await this.service.ok(publishTemplateVersion, { versionId }, { caller });
    return versionId;
  }

  /** Creates an instance in the customer's project. @returns its id */
  async create(templateVersionId: string, fieldValues: JsonObject = {}): Promise<string> {
    const body = { templateVersionId, projectId: ids.customerProject, name: 'Weber', fieldValues };
    return String((await this.service.ok(createInstance, {}, { caller: this.partner, body })).body.id);
  }

  async upgrade(instanceId: string, targetTemplateVersionId: string, more: JsonObject = {}): Promise<void> {
    const body = { targetTemplateVersionId, ...more };
    await this.service.ok(upgradeInstance, { instanceId }, { caller: this.partner, body });
  }

  async retry(instanceId: string): Promise<void> {
    await this.service.ok(retryInstance, { instanceId }, { caller: this.partner });
  }

  async remove(instanceId: string, keepResources = false): Promise<void> {
    await this.service.ok(deleteInstance, { instanceId }, { caller: this.partner, body: { keepResources } });
  }

  async instance(id: string): Promise<InstanceRecord> {
    const document = await this.service.documents.get<InstanceDocument>('instances', id);
    assert.ok(document, `there is no instance ${id}`);
    return instanceRecord(document.value.state);
  }

  /** Reads the resources of the customer's project: flows with their active schema, profiles and stores. */
  async project(): Promise<ProjectContents> {
    const { documents } = this.service;
    const inProject = <Value extends { readonly projectId: string | null }>({ value }: { readonly value: Value }) =>
      value.projectId === ids.customerProject;
    const [flows, versions, profiles, stores] = await Promise.all([
      documents.list<FlowDocument>('flows', {}, everything),
      documents.list<FlowVersionDocument>('flow-versions', {}, everything),
      documents.list<AgentProfileDocument>('agent-profiles', {}, everything),
      documents.list<StoreDocument>('stores', {}, everything),
    ]);
    const versionsOf = (flowId: string) => versions.documents.filter(({ value }) => value.flowId === flowId);
    return {
      flows: flows.documents.filter(inProject).map(({ id, value: { record } }) => {
        const active = versionsOf(id).filter(({ value }) => value.record.isActive);
        assert.equal(active.length, 1, 'a flow has not exactly one active version');
        return {
          id,
          name: record.name,
          type: record.type,
          agentProfileId: record.agentProfileId,
          schema: active[0]?.value.record.flowSchema ?? null,
          versions: versionsOf(id).length,
        };
      }),
      profiles: profiles.documents.filter(inProject).map(({ id, value: { record } }) => ({ id, name: record.name })),
      stores: stores.documents
        .filter(inProject)
        .flatMap(({ id, value: { record } }) => (record === null ? [] : [{ id, name: record.name }])),
    };
  }
}

/** The resources of a project. */
export interface ProjectContents {
  readonly flows: ReadonlyArray<{
    readonly id: string;
    readonly name: string;
    readonly type: string;
    readonly agentProfileId: string | null;
    readonly schema: Json;
    readonly versions: number;
  }>;
  readonly profiles: ReadonlyArray<{ readonly id: string; readonly name: string }>;
  readonly stores: ReadonlyArray<{ readonly id: string; readonly name: string }>;
}
