import { bootstrap, createFirstKey } from '#app/startup/bootstrap.ts';
import { createAgentProfile } from '#commands/agent-profile/create-agent-profile.ts';
import { createCustomer } from '#commands/customer/create-customer.ts';
import { erasePersonalData } from '#commands/customer/erase-personal-data.ts';
import { createFlow } from '#commands/flow/create-flow.ts';
import { deleteFlow } from '#commands/flow/delete-flow.ts';
import { updateFlow } from '#commands/flow/update-flow.ts';
import { createInstance } from '#commands/instance/create-instance.ts';
import { createPhoneNumber } from '#commands/phone-number/create-phone-number.ts';
import { createTemplate } from '#commands/template/create-template.ts';
import { createTemplateVersion } from '#commands/template-version/create-template-version.ts';
import { publishTemplateVersion } from '#commands/template-version/publish-template-version.ts';
import { processTable } from '#processes/table.ts';
import { callerOf } from '#test/support/events/tenants.ts';
import { Service } from '#test/support/harness/in-memory-service.ts';
import { ProcessDrive } from '#test/support/harness/process-harness.ts';
import { profileInput } from '#test/support/inputs/profile-input.ts';
import { field, payload } from '#test/support/inputs/template-payload.ts';
import { adminKey } from './service-process.ts';

/** A service whose log holds something of everything, every chain sealed; its processes have done their work. */
export async function believableService(): Promise<Service> {
  const service = new Service();
  await bootstrap(
    service.handler,
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
  await actAsPartner(service, organizationId, path.projectId);
  await settleProcesses(service);
  return service;
}

/** An instance of a template, and two customers, of whom one is erased. */
async function actAsPartner(service: Service, organizationId: string, projectId: string): Promise<void> {
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

/** Lets every process look at the whole log from its beginning. */
export async function settleProcesses(service: Service): Promise<void> {
  for (const process of processTable(service.personalData)) await new ProcessDrive(process, service).settle();
}
