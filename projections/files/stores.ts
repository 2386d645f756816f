import type { ListedDocument } from '#application/queries/object-list.ts';
import type { Tenant } from '#domain/shared/access.ts';
import { describedStoreRecord, newStoreRecord, type StoreEvents, type StoreRecord } from '#domain/store/store.ts';
import { type ProjectedEventOf, projection } from '#projection-engine/projection.ts';
import { tenantOf } from '#projections/document.ts';

export interface StoreDocument extends Tenant, ListedDocument<StoreRecord> {
  readonly projectId: string | null;
  readonly revision: number;
}

/** Keeps the places of deleted stores in lists. */
export const stores = projection<StoreDocument, StoreEvents>({
  name: 'stores',
  version: 1,
  keys: ({ data }) => [data.id],
  on: {
    StoreCreated: (_, { data, revision, metadata }) => ({
      ...tenantOf(metadata),
      revision,
      listedIn: data.projectId,
      record: newStoreRecord(data, metadata.time),
    }),
    StoreDescribed: (document, { data, revision, metadata }) =>
      document?.record
        ? { ...document, revision, record: describedStoreRecord(document.record, data, metadata.time) }
        : document,
    StoreFileAdded: touched,
    StoreFileRemoved: touched,
    StoreDeleted: (document, { revision }) => document && { ...document, revision, listedIn: null, record: null },
  },
  indexes: [['listedIn']],
});

/** Other read models list the files of a store. */
function touched(
  document: StoreDocument | null,
  { revision, metadata }: ProjectedEventOf<Pick<StoreEvents, 'StoreFileAdded' | 'StoreFileRemoved'>>,
): StoreDocument | null {
  if (!document?.record) return document;
  return { ...document, revision, record: { ...document.record, updatedAt: metadata.time } };
}
