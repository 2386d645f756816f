import type { BlobStore } from '#blob-store/blob-store.ts';
import { batch, batchPartsOf } from '#domain/batch/batch.ts';
import type { BatchEvents } from '#domain/batch/events.ts';
import type { FileEvents } from '#domain/file/events.ts';
import type { OrganizationEvents } from '#domain/organization/organization.ts';
import type { ProjectEvents } from '#domain/project/project.ts';
import type { WebhookEndpointEvents } from '#domain/webhook-endpoint/events.ts';
import type { PersonalData } from '#personal-data/personal-data.ts';
import { type Process, process, sideEffect } from '#process-engine/process.ts';
import { paginateAll } from '#read-store/paginate-all.ts';
import type { StoredResponses } from '#responses/stored-responses.ts';

const maxDeletionsAtOnce = 4;

/** Destroys the keys again in case the node that recorded it ended before it did so. */
export function destroySubjectKeys(personalData: Pick<PersonalData, 'erase'>): Process {
  return sideEffect<Pick<OrganizationEvents & WebhookEndpointEvents, 'PersonalDataErased' | 'WebhookEndpointDeleted'>>({
    name: 'destroy-subject-keys',
    on: ['PersonalDataErased', 'WebhookEndpointDeleted'],
    run: ({ id }) => personalData.erase(id),
  });
}

/** Erases the stored responses of a project, and those of all projects of a customer whose personal data is erased. */
export function eraseResponses(responses: Pick<StoredResponses, 'eraseProject'>): Process {
  return process<Pick<ProjectEvents & OrganizationEvents, 'ProjectResponsesErased' | 'PersonalDataErased'>>({
    name: 'erase-responses',
    on: {
      ProjectResponsesErased: ({ data: { id } }) => responses.eraseProject(id),
      PersonalDataErased: async ({ data: { id: organizationId } }, tools) => {
        const documents = await tools.documentsUpToDate('projects');
        for await (const page of paginateAll(documents, 'projects', { organizationId }))
          for (const { id } of page) await responses.eraseProject(id);
      },
    },
  });
}

/** Deletes the contents of deleted and expired files. No answer waits for this process. */
export function deleteFileContents(blobs: Pick<BlobStore, 'delete'>): Process {
  return sideEffect<Pick<FileEvents, 'FileDeleted'>>({
    name: 'delete-file-contents',
    on: ['FileDeleted'],
    concurrency: maxDeletionsAtOnce,
    run: ({ blobId }) => blobs.delete(blobId),
  });
}

/**
 * Deletes the parts of an ended batch, whose output and error files contain the same lines. No answer waits for this
 * process.
 */
export function deleteBatchParts(blobs: Pick<BlobStore, 'delete'>): Process {
  return sideEffect<Pick<BatchEvents, 'BatchEnded'>>({
    name: 'delete-batch-parts',
    on: ['BatchEnded'],
    concurrency: 1,
    run: async ({ id }, tools) => {
      const { state } = await tools.load(batch, id);
      if (state !== null) for (const { blobId } of batchPartsOf(state)) await blobs.delete(blobId);
    },
  });
}
