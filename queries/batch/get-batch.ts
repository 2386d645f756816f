import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { answerAsOf, asOfInput, type PastReadName, pastReadNames } from '#application/history/as-of.ts';
import { get } from '#application/operations/operation.ts';
import { query } from '#application/queries/query.ts';
import { batch } from '#domain/batch/batch.ts';
import { batchHistory } from '#domain/batch/history.ts';
import { BatchRecord, batchId } from '#domain/batch/record.ts';
import { type BatchDocument, batches } from '#projections/files/batches.ts';
import type { EncodedJson } from '#shared/json/json.ts';

const Input = t.intersection([t.type({ batch_id: batchId }), t.partial(asOfInput)]);
const past = { history: batchHistory, entity: batch, kind: 'batch', notFound: 'batch-not-found' } as const;

export const getBatch = query<t.TypeOf<typeof Input>, BatchDocument, BatchRecord, never, PastReadName>({
  about: { name: 'get_batch', summary: 'Read a batch', group: 'Batches', example: { output: BatchRecord.example } },
  plane: 'gateway',
  http: get('/v1/batches/:batch_id'),
  access: {
    scope: 'batches:read',
    subject: { collection: batches, parameter: 'batch_id', notFound: 'batch-not-found', past: batch },
  },
  input: Input,
  output: BatchRecord,
  failures: ['batch-not-found'],
  reads: {},
  services: pastReadNames,
  answer: answerAsOf(past, ({ subject }) => E.right({ body: subject.record as EncodedJson<BatchRecord> })),
});
