import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { answerAsOf, asOfInput, type PastReadName, pastReadNames } from '#application/history/as-of.ts';
import { get } from '#application/operations/operation.ts';
import { query } from '#application/queries/query.ts';
import { cuid } from '#domain/codecs/id.ts';
import { notFound } from '#domain/shared/access.ts';
import { storeHistory } from '#domain/store/history.ts';
import { StoreRecord, store } from '#domain/store/store.ts';
import { type StoreDocument, stores } from '#projections/files/stores.ts';
import type { EncodedJson } from '#shared/json/json.ts';

const Input = t.intersection([t.type({ store_id: cuid }), t.partial(asOfInput)]);
const past = { history: storeHistory, entity: store, kind: 'store', notFound: 'store-not-found' } as const;

export const getStore = query<t.TypeOf<typeof Input>, StoreDocument, StoreRecord, never, PastReadName>({
  about: {
    name: 'get_store',
    summary: 'Read a knowledge store',
    group: 'Stores',
    example: { output: StoreRecord.example },
  },
  plane: 'gateway',
  http: get('/v1/stores/:store_id'),
  access: {
    scope: 'stores:read',
    subject: { collection: stores, parameter: 'store_id', notFound: 'store-not-found', past: store },
  },
  input: Input,
  output: StoreRecord,
  failures: ['store-not-found'],
  reads: {},
  services: pastReadNames,
  hasRevision: true,
  answer: answerAsOf(past, ({ input, subject: { record, head } }) => {
    if (head.listedIn === null) return E.left(notFound('store-not-found', input.store_id));
    return E.right({ body: record as EncodedJson<StoreRecord>, revision: head.revision });
  }),
});
