import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { notFound } from '#application/operations/not-found.ts';
import { get } from '#application/operations/operation.ts';
import { query } from '#application/queries/query.ts';
import { cuid } from '#domain/codecs/codecs.ts';
import { examples } from '#domain/shared/examples.ts';
import { StoreRecord } from '#domain/store/record.ts';
import { type StoreDocument, stores } from '#projections/stores.ts';
import type { EncodedJson } from '#shared/json/encoded-json.ts';

export const getStore = query<{ readonly store_id: string }, StoreDocument, StoreRecord>({
  name: 'get_store',
  summary: 'Read a knowledge store',
  group: 'Stores',
  plane: 'gateway',
  http: get('/v1/stores/:store_id'),
  scope: 'stores:read',
  input: t.type({ store_id: cuid }),
  output: StoreRecord,
  failures: ['store-not-found'],
  example: { output: examples.store },
  reads: {},
  subject: { collection: stores, parameter: 'store_id', notFound: 'store-not-found' },
  hasRevision: true,
  answer: ({ input: { store_id }, subject: { record, head } }) =>
    head.listedIn === null
      ? E.left(notFound('store-not-found', store_id))
      : E.right({ body: record as EncodedJson<StoreRecord>, revision: head.revision }),
});
