import type { BlobStore } from '#blob-store/blob-store.ts';
import type { PersonalData } from '#personal-data/personal-data.ts';
import type { Process } from '#process-engine/process.ts';
import { assignAgentProfiles } from './assign-agent-profiles.ts';
import { createCustomerProjects } from './create-customer-projects.ts';
import { deleteBatchParts } from './delete-batch-parts.ts';
import { deleteFileContents } from './delete-file-contents.ts';
import { destroySubjectKeys } from './destroy-subject-keys.ts';
import { detachPhoneNumbers } from './detach-phone-numbers.ts';
import { disableWebhookEndpoints } from './disable-webhook-endpoints.ts';
import { expireFiles } from './expire-files.ts';
import { provisionInstances } from './provision-instances.ts';
import { removeStoreFiles } from './remove-store-files.ts';
import { revokeDescendantKeys } from './revoke-descendant-keys.ts';

/** Every process that the service runs. */
export function processTable(
  personalData: Pick<PersonalData, 'erase'>,
  blobs: Pick<BlobStore, 'delete'>,
): ReadonlyArray<Process> {
  return [
    detachPhoneNumbers,
    assignAgentProfiles,
    createCustomerProjects,
    destroySubjectKeys(personalData),
    provisionInstances(),
    revokeDescendantKeys,
    disableWebhookEndpoints,
    expireFiles,
    removeStoreFiles,
    deleteFileContents(blobs),
    deleteBatchParts(blobs),
  ];
}
