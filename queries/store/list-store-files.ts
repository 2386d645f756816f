import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { get } from '#application/operations/operation.ts';
import {
  ListOrder,
  listObjects,
  type ObjectList,
  ObjectListInput,
  objectList,
} from '#application/queries/object-list.ts';
import { query } from '#application/queries/query.ts';
import { cuid } from '#domain/codecs/id.ts';
import { FileRecord } from '#domain/file/record.ts';
import { notFound } from '#domain/shared/access.ts';
import { StoreFileRecord } from '#domain/store/store.ts';
import { type StoreFileDocument, storeFiles } from '#projections/files/store-files.ts';
import { type StoreDocument, stores } from '#projections/files/stores.ts';

const Input = t.intersection([t.type({ store_id: cuid }), ObjectListInput, t.partial({ order: ListOrder })]);

export const listStoreFiles = query<t.TypeOf<typeof Input>, StoreDocument, ObjectList<StoreFileRecord>, 'storeFiles'>({
  about: {
    name: 'list_store_files',
    summary: 'List the files of a knowledge store',
    description: 'The last added file first, unless `order` is `asc`.',
    group: 'Stores',
    example: {
      output: {
        object: 'list',
        data: [StoreFileRecord.example],
        first_id: FileRecord.example.id,
        last_id: FileRecord.example.id,
        has_more: false,
      },
    },
  },
  plane: 'gateway',
  http: get('/v1/stores/:store_id/files'),
  access: { scope: 'stores:read', subject: { collection: stores, parameter: 'store_id', notFound: 'store-not-found' } },
  input: Input,
  output: objectList(StoreFileRecord),
  failures: ['store-not-found'],
  reads: { storeFiles },
  readsMany: true,
  answer: ({ input: { store_id, order, ...page }, subject }, { read }) => {
    const { listedIn, projectId } = subject.head;
    if (listedIn === null || projectId === null) return E.left(notFound('store-not-found', store_id));
    return listObjects<StoreFileRecord, StoreFileDocument>(read.storeFiles, projectId, page, {
      list: store_id,
      newestFirst: order !== 'asc',
    });
  },
});
