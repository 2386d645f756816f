import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { command } from '#application/commands/command.ts';
import { remove } from '#application/operations/operation.ts';
import { deletedObject, deletionOf } from '#application/queries/object-list.ts';
import { cuid } from '#domain/codecs/id.ts';
import { StoreRecord, store, storeRemoved } from '#domain/store/store.ts';

export const deleteStore = command({
  about: {
    name: 'delete_store',
    summary: 'Delete a knowledge store',
    group: 'Stores',
    example: { output: deletionOf('store', StoreRecord.example.id) },
  },
  plane: 'gateway',
  http: remove('/v1/stores/:store_id'),
  access: { scope: 'stores:write', subject: { entity: store, parameter: 'store_id' } },
  input: t.type({ store_id: cuid }),
  output: deletedObject('store'),
  failures: ['store-not-found'],
  entity: store,
  decide: ({ store_id }, state) => E.right(storeRemoved(store_id, state)),
  answer: ({ input }) => deletionOf('store', input.store_id),
});
