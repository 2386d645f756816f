import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { command } from '#application/commands/command.ts';
import { remove } from '#application/operations/operation.ts';
import { deletedObject, deletionOf } from '#application/queries/object-list.ts';
import { cuid } from '#domain/codecs/id.ts';
import { FileRecord, fileId } from '#domain/file/record.ts';
import { notInStore, store, storeFileRemoved } from '#domain/store/store.ts';

export const removeStoreFile = command({
  about: {
    name: 'remove_store_file',
    summary: 'Remove a file from a knowledge store',
    description: 'The file itself stays.',
    group: 'Stores',
    example: { output: deletionOf('store.file', FileRecord.example.id) },
  },
  plane: 'gateway',
  http: remove('/v1/stores/:store_id/files/:file_id'),
  access: { scope: 'stores:write', subject: { entity: store, parameter: 'store_id' } },
  input: t.type({ store_id: cuid, file_id: fileId }),
  output: deletedObject('store.file'),
  failures: ['store-not-found', 'file-not-found'],
  entity: store,
  decide: ({ store_id, file_id }, state) => {
    const events = storeFileRemoved({ id: store_id, fileId: file_id, reason: 'requested' }, state);
    return events.length === 0 ? E.left(notInStore(store_id, file_id)) : E.right(events);
  },
  answer: ({ input }) => deletionOf('store.file', input.file_id),
});
