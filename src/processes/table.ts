import type { PersonalData } from '#personal-data/personal-data.ts';
import type { Process } from '#process-engine/process.ts';
import { assignAgentProfiles } from './assign-agent-profiles.ts';
import { createCustomerProjects } from './create-customer-projects.ts';
import { destroySubjectKeys } from './destroy-subject-keys.ts';
import { detachPhoneNumbers } from './detach-phone-numbers.ts';
import { provisionInstances } from './provision-instances.ts';
import { revokeDescendantKeys } from './revoke-descendant-keys.ts';

/** Every process that the service runs. */
export function processTable(personalData: Pick<PersonalData, 'erase'>): ReadonlyArray<Process> {
  return [
    detachPhoneNumbers,
    assignAgentProfiles,
    createCustomerProjects,
    destroySubjectKeys(personalData),
    provisionInstances(),
    revokeDescendantKeys,
  ];
}
