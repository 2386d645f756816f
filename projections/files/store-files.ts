import type { ListedDocument } from '#application/queries/object-list.ts';
import type { Tenant } from '#domain/shared/access.ts';
import { newStoreFileRecord, type StoreEvents, type StoreFileRecord } from '#domain/store/store.ts';
import { ignored, projection } from '#projection-engine/projection.ts';
import { tenantOf } from '#projections/document.ts';

export interface StoreFileDocument extends Tenant, ListedDocument<StoreFileRecord> {
  readonly projectId: string | null;
  readonly storeId: string;
  readonly fileId: string;
}

/** Keeps the places of removed files in lists. The documents of a deleted store stay, but no query finds them. */
export const storeFiles = projection<StoreFileDocument, StoreEvents>({
  name: 'store-files',
  version: 1,
  keys: ({ data }) => ('fileId' in data ? [storeFileKey(data.id, data.fileId)] : []),
  on: {
    StoreCreated: ignored,
    StoreDescribed: ignored,
    StoreFileAdded: (_, { data, metadata }) => ({
      ...tenantOf(metadata),
      storeId: data.id,
      fileId: data.fileId,
      listedIn: data.id,
      record: newStoreFileRecord(data, metadata.time),
    }),
    StoreFileRemoved: (document) => document && { ...document, listedIn: null, record: null },
    StoreDeleted: ignored,
  },
  indexes: [['listedIn'], ['fileId']],
});

export function storeFileKey(storeId: string, fileId: string): string {
  return `${storeId}.${fileId}`;
}
