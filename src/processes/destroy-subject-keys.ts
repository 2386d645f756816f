import type { PersonalData } from '#personal-data/personal-data.ts';
import type { Process } from '#process-engine/process.ts';

/**
 * Destroys the keys of personal data that an event records as erased, in case the node that recorded it ended before
 * it did so.
 */
export function destroySubjectKeys(personalData: Pick<PersonalData, 'erase'>): Process {
  return {
    name: 'destroy-subject-keys',
    types: ['PersonalDataErased', 'WebhookEndpointDeleted'],
    handles: () => true,
    handle: ({ data }) => personalData.erase(String(data.id)),
  };
}
