import { bootstrap, createFirstKey } from '#app/startup/bootstrap.ts';
import { createAgentProfile } from '#commands/agent-profile/create-agent-profile.ts';
import { createBatch } from '#commands/batch/create-batch.ts';
import { createCustomer } from '#commands/customer/create-customer.ts';
import { erasePersonalData } from '#commands/customer/erase-personal-data.ts';
import { createFile } from '#commands/file/create-file.ts';
import { createFlow } from '#commands/flow/create-flow.ts';
import { deleteFlow } from '#commands/flow/delete-flow.ts';
import { updateFlow } from '#commands/flow/update-flow.ts';
import { createInstance } from '#commands/instance/create-instance.ts';
import { createPhoneNumber } from '#commands/phone-number/create-phone-number.ts';
import { createTemplate } from '#commands/template/create-template.ts';
import { createTemplateVersion } from '#commands/template-version/create-template-version.ts';
import { publishTemplateVersion } from '#commands/template-version/publish-template-version.ts';
import { createWebhookEndpoint } from '#commands/webhook-endpoint/create-webhook-endpoint.ts';
import { processTable } from '#processes/table.ts';
import { callerOf } from '#test/support/events/tenants.ts';
import { Service } from '#test/support/harness/in-memory-service.ts';
import { ProcessDriver } from '#test/support/harness/process-harness.ts';
import { profileInput } from '#test/support/inputs/profile-input.ts';
import { field, payload } from '#test/support/inputs/template-payload.ts';
import { adminKey } from './service-process.ts';

/** Returns a service with resources of every kind, after its processes have handled the whole log. */
export async function populatedService(): Promise<Service> {
  const service = new Service();
  await bootstrap(
    service.writer,
    createFirstKey(adminKey, () => undefined),
  );
  const [project] = service.store.log.filter(({ type }) => type === 'ProjectCreated');
  const path = { projectId: String(project?.data.id) };
  const flows: string[] = [];
  for (const name of ['Opening hours', 'Complaints', 'Größe 📏']) {
    const { body } = await service.ok(createFlow, path, { body: { name, flowSchema: { say: [name, 1.5, null] } } });
    flows.push(String(body.id));
  }
  const [kept = '', deleted = '', asked = ''] = flows;
  for (const [index, flowId] of [kept, deleted].entries()) {
    const body = { name: 'Line', number: `+4420718387${index}0`, flowId };
    await service.ok(createPhoneNumber, path, { body, idempotencyKey: `number ${index}` });
  }
  await service.ok(createAgentProfile, path, { body: profileInput({ flowIds: [kept, asked] }) });
  await service.ok(updateFlow, { flowId: kept }, { body: { name: 'Opening times' } });
  await service.ok(deleteFlow, { flowId: deleted });
  const organizationId = String(project?.data.organizationId);
  const caller = callerOf('project', { organizationId, projectId: path.projectId, partnerId: organizationId });
  const file = { blobId: 'file-blob', filename: 'a.txt', contentType: 'text/plain', bytes: 3, sha256: 'ab'.repeat(32) };
  const uploaded = await service.ok(createFile, {}, { caller, body: { file, purpose: 'batch' } });
  const lines = { input_file_id: String(uploaded.body.id), endpoint: '/v1/chat/completions', completion_window: '24h' };
  await service.ok(createBatch, {}, { caller, body: lines });
  const endpoint = { url: 'https://example.com/hooks', eventTypes: [] };
  await service.ok(createWebhookEndpoint, {}, { caller, body: endpoint });
  await addPartnerResources(service, organizationId, path.projectId);
  await settleProcesses(service);
  return service;
}

/** Creates an instance of a template, and two customers, one of whom is erased. */
async function addPartnerResources(service: Service, organizationId: string, projectId: string): Promise<void> {
  const caller = callerOf('partner', { organizationId, projectId, partnerId: organizationId });
  const template = await service.ok(createTemplate, {}, { caller, body: { name: 'Practice' } });
  const contents = { payload: payload(), fieldsSchema: [field()] };
  const path = { templateId: String(template.body.id) };
  const version = await service.ok(createTemplateVersion, path, { caller, body: contents });
  const templateVersionId = String(version.body.id);
  await service.ok(publishTemplateVersion, { versionId: templateVersionId }, { caller });
  const body = { templateVersionId, projectId, name: 'Weber', fieldValues: { name: 'Weber' } };
  await service.ok(createInstance, {}, { caller, body });
  const customers: string[] = [];
  for (const name of ['Weber', 'Größe']) {
    const made = await service.ok(createCustomer, {}, { caller, body: { name, clientEmail: 'office@example.com' } });
    customers.push(String(made.body.organizationId));
  }
  await service.ok(erasePersonalData, { organizationId: customers[1] ?? '' }, { caller });
}

/** Lets every process handle the whole log from its beginning. */
export async function settleProcesses(service: Service): Promise<void> {
  for (const process of processTable(
    service.personalData,
    { delete: async () => undefined },
    { eraseProject: async () => undefined },
  ))
    await new ProcessDriver(process, service).settle();
}
