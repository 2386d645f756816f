import { get } from '#application/operations/operation.ts';
import { listObjects, type ObjectList, ObjectListInput, objectList } from '#application/queries/object-list.ts';
import { query } from '#application/queries/query.ts';
import type { Tenant } from '#domain/shared/access.ts';
import { StoreRecord } from '#domain/store/store.ts';
import { stores } from '#projections/files/stores.ts';

export const listStores = query<ObjectListInput, Tenant, ObjectList<StoreRecord>, 'stores'>({
  about: {
    name: 'list_stores',
    summary: "List the knowledge stores of the key's project",
    group: 'Stores',
    example: {
      output: {
        object: 'list',
        data: [StoreRecord.example],
        first_id: StoreRecord.example.id,
        last_id: StoreRecord.example.id,
        has_more: false,
      },
    },
  },
  plane: 'gateway',
  http: get('/v1/stores'),
  access: { scope: 'stores:read', subject: null },
  input: ObjectListInput,
  output: objectList(StoreRecord),
  failures: [],
  reads: { stores },
  readsMany: true,
  answer: ({ input, request: { caller } }, { read }) => listObjects(read.stores, caller.projectId, input),
});
