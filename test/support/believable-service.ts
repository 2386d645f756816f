import { createAgentProfile } from '#commands/agent-profile/create-agent-profile.ts';
import { createFlow } from '#commands/flow/create-flow.ts';
import { deleteFlow } from '#commands/flow/delete-flow.ts';
import { updateFlow } from '#commands/flow/update-flow.ts';
import { createPhoneNumber } from '#commands/phone-number/create-phone-number.ts';
import { assignAgentProfiles } from '#processes/assign-agent-profiles.ts';
import { detachPhoneNumbers } from '#processes/detach-phone-numbers.ts';
import { bootstrap, firstKeyOf } from '#src/bootstrap.ts';
import { ProcessDrive } from '#test/support/process-drive.ts';
import { profileInput } from '#test/support/profile-input.ts';
import { Service } from '#test/support/service.ts';
import { adminKey } from '#test/support/service-process.ts';

/** A service whose log holds something of everything, every chain sealed; its processes have done their work. */
export async function believableService(): Promise<Service> {
  const service = new Service();
  await bootstrap(
    service.handler,
    firstKeyOf(adminKey, () => undefined),
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
  await settleProcesses(service);
  return service;
}

/** Lets every process look at the whole log from its beginning. */
export async function settleProcesses(service: Service): Promise<void> {
  for (const process of [detachPhoneNumbers, assignAgentProfiles]) await new ProcessDrive(process, service).settle();
}
