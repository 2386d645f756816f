import type { PersonalData } from '#personal-data/personal-data.ts';
import type { Process } from '#process-engine/process.ts';

/** Erases what was recorded as erased, or as deleted with its secrets, should whoever recorded it have ended before it was done. */
export function destroySubjectKeys(personalData: Pick<PersonalData, 'erase'>): Process {
  return {
    name: 'destroy-subject-keys',
    types: ['PersonalDataErased', 'WebhookEndpointDeleted'],
    handles: () => true,
    handle: ({ data }) => personalData.erase(String(data.id)),
  };
}
