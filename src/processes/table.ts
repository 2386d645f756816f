import type { BlobStore } from '#blob-store/blob-store.ts';
import type { PersonalData } from '#personal-data/personal-data.ts';
import type { Process } from '#process-engine/process.ts';
import type { StoredResponses } from '#responses/stored-responses.ts';
import { assignAgentProfiles } from './assign-agent-profiles.ts';
import { detachPhoneNumbers, disableWebhookEndpoints, removeStoreFiles, revokeDescendantKeys } from './cascades.ts';
import { createCustomerProjects } from './create-customer-projects.ts';
import { expireFiles } from './expire-files.ts';
import { provisionInstances } from './provision-instances.ts';
import { deleteBatchParts, deleteFileContents, destroySubjectKeys, eraseResponses } from './side-effects.ts';

export function processTable(
  personalData: Pick<PersonalData, 'erase'>,
  blobs: Pick<BlobStore, 'delete'>,
  responses: Pick<StoredResponses, 'eraseProject'>,
): ReadonlyArray<Process> {
  return [
    detachPhoneNumbers,
    assignAgentProfiles,
    createCustomerProjects,
    destroySubjectKeys(personalData),
    eraseResponses(responses),
    provisionInstances(),
    revokeDescendantKeys,
    disableWebhookEndpoints,
    expireFiles,
    removeStoreFiles,
    deleteFileContents(blobs),
    deleteBatchParts(blobs),
  ];
}
