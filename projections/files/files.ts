import type { ListedDocument } from '#application/queries/object-list.ts';
import type { FileEvents } from '#domain/file/events.ts';
import { expiryOf, newFileRecord } from '#domain/file/file.ts';
import type { FileRecord } from '#domain/file/record.ts';
import type { Tenant } from '#domain/shared/access.ts';
import { ignored, projection } from '#projection-engine/projection.ts';
import { tenantOf } from '#projections/document.ts';

export interface FileDocument extends Tenant, ListedDocument<FileRecord> {
  readonly projectId: string | null;
  readonly purpose: string;
  readonly blobId: string;
  readonly filename: string;
  readonly contentType: string;
  readonly bytes: number;
  readonly sha256: string;
  readonly expiresAt: string | null;
}

/** Keeps the places of removed files in lists. */
export const files = projection<FileDocument, FileEvents>({
  name: 'files',
  version: 1,
  keys: ({ data }) => [data.id],
  on: {
    FileCreated: (_, { data, metadata }) => {
      const { projectId, purpose, blobId, filename, contentType, bytes, sha256, expiresAfterSeconds } = data;
      const expiresAt = expiryOf(metadata.time, expiresAfterSeconds);
      return {
        ...tenantOf(metadata),
        ...{ purpose, blobId, filename, contentType, bytes, sha256, expiresAt },
        listedIn: projectId,
        record: newFileRecord(data, metadata.time),
      };
    },
    FileHeld: ignored,
    FileReleased: ignored,
    FileDeleted: (document) => document && { ...document, listedIn: null, record: null },
  },
  indexes: [['listedIn'], ['purpose', 'listedIn']],
});
