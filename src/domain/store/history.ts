import { entityHistory, quote } from '#domain/history/listed-event.ts';
import type { ResourceName } from '#domain/history/record.ts';
import { type StoreEvents, type StoreState, store, storeRecord } from './store.ts';

const itself = ({ id }: { readonly id: string }): ResourceName => ({ kind: 'store', id });

export const storeHistory = entityHistory<StoreState, StoreEvents>({
  entity: store,
  events: {
    StoreCreated: { resource: itself, summary: ({ name }) => `The store ${quote(name)} was created.` },
    StoreDescribed: {
      resource: itself,
      summary: ({ name }) => `The store ${quote(name)} got another name or description.`,
    },
    StoreFileAdded: { resource: itself, summary: ({ fileId }) => `The file ${fileId} was added to the store.` },
    StoreFileRemoved: {
      resource: itself,
      summary: ({ fileId, reason }) =>
        reason === 'file-deleted'
          ? `The file ${fileId} was removed from the store, because it was deleted.`
          : `The file ${fileId} was removed from the store.`,
    },
    StoreDeleted: { resource: itself, summary: () => 'The store was deleted.' },
  },
  record: async (state, { id }, { dataAt }) => (store.isLive(state, id) ? storeRecord(state, dataAt) : null),
});
