import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { get } from '#application/operations/operation.ts';
import { query } from '#application/queries/query.ts';
import { cuid } from '#domain/codecs/id.ts';
import { fileId } from '#domain/file/record.ts';
import { notFound } from '#domain/shared/access.ts';
import { notInStore, StoreFileRecord } from '#domain/store/store.ts';
import { type StoreFileDocument, storeFileKey, storeFiles } from '#projections/files/store-files.ts';
import { type StoreDocument, stores } from '#projections/files/stores.ts';
import type { EncodedJson } from '#shared/json/json.ts';

const Input = t.type({ store_id: cuid, file_id: fileId });

export const getStoreFile = query<t.TypeOf<typeof Input>, StoreDocument, StoreFileRecord, 'storeFiles'>({
  about: {
    name: 'get_store_file',
    summary: 'Read a file of a knowledge store',
    group: 'Stores',
    example: { output: StoreFileRecord.example },
  },
  plane: 'gateway',
  http: get('/v1/stores/:store_id/files/:file_id'),
  access: { scope: 'stores:read', subject: { collection: stores, parameter: 'store_id', notFound: 'store-not-found' } },
  input: Input,
  output: StoreFileRecord,
  failures: ['store-not-found', 'file-not-found'],
  reads: { storeFiles },
  answer: async ({ input: { store_id, file_id }, subject }, { read }) => {
    if (subject.head.listedIn === null) return E.left(notFound('store-not-found', store_id));
    const found = await read.storeFiles.get<StoreFileDocument>(storeFileKey(store_id, file_id));
    if (found === null || found.head.listedIn === null) return E.left(notInStore(store_id, file_id));
    return E.right({ body: found.record as EncodedJson<StoreFileRecord> });
  },
});
