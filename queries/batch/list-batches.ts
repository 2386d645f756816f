import { get } from '#application/operations/operation.ts';
import { listObjects, type ObjectList, ObjectListInput, objectList } from '#application/queries/object-list.ts';
import { query } from '#application/queries/query.ts';
import { BatchRecord } from '#domain/batch/record.ts';
import type { Tenant } from '#domain/shared/access.ts';
import { batches } from '#projections/files/batches.ts';

/** The default of OpenAI's API. */
const defaultLimit = 20;

export const listBatches = query<ObjectListInput, Tenant, ObjectList<BatchRecord>, 'batches'>({
  about: {
    name: 'list_batches',
    summary: "List the batches of the key's project",
    description: 'Newest first. The default `limit` is 20.',
    group: 'Batches',
    example: {
      output: {
        object: 'list',
        data: [BatchRecord.example],
        first_id: BatchRecord.example.id,
        last_id: BatchRecord.example.id,
        has_more: false,
      },
    },
  },
  plane: 'gateway',
  http: get('/v1/batches'),
  access: { scope: 'batches:read', subject: null },
  input: ObjectListInput,
  output: objectList(BatchRecord),
  failures: [],
  reads: { batches },
  readsMany: true,
  answer: ({ input: { limit = defaultLimit, ...page }, request: { caller } }, { read }) =>
    listObjects<BatchRecord>(read.batches, caller.projectId, { ...page, limit }, { newestFirst: true }),
});
