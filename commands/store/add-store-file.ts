import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { command } from '#application/commands/command.ts';
import { post } from '#application/operations/operation.ts';
import { cuid } from '#domain/codecs/id.ts';
import { file, isFileThere } from '#domain/file/file.ts';
import { FileRecord } from '#domain/file/record.ts';
import { notFound } from '#domain/shared/access.ts';
import { newStoreFileRecord, StoreFileRecord, store, storeFileAdded } from '#domain/store/store.ts';
import { text } from '#shared/codecs/text.ts';

export const addStoreFile = command({
  about: {
    name: 'add_store_file',
    summary: 'Add a file to a knowledge store',
    description: "The file must belong to the store's project. A repetition changes nothing.",
    group: 'Stores',
    effect: { isIdempotent: true },
    example: { input: { file_id: FileRecord.example.id }, output: StoreFileRecord.example },
  },
  plane: 'gateway',
  http: post('/v1/stores/:store_id/files'),
  access: { scope: 'stores:write', subject: { entity: store, parameter: 'store_id' } },
  input: t.type({ store_id: cuid, file_id: text({ min: 1 }) }),
  output: StoreFileRecord,
  failures: ['store-not-found', 'file-not-found'],
  entity: store,
  loadRelated: async ({ file_id }, { load }) => (await load(file, file_id)).state,
  decide: ({ store_id, file_id }, state, { subject, related, time }) => {
    const isInProject = isFileThere(related, time) && related.projectId === subject.tenant?.projectId;
    if (!isInProject || related.id !== file_id) {
      return E.left(notFound('file-not-found', JSON.stringify(file_id.slice(0, 100))));
    }
    return E.right(storeFileAdded({ id: store_id, fileId: file_id, bytes: related.bytes }, state));
  },
  answer: ({ input: { store_id, file_id }, state }) => {
    const added = state?.files.get(file_id);
    if (added === undefined) throw new Error('an answer about a file in a store needs one');
    return newStoreFileRecord({ id: store_id, fileId: file_id, bytes: added.bytes }, added.addedAt);
  },
});
