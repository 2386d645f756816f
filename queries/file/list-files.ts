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
import { hasExpired } from '#domain/file/file.ts';
import { FilePurpose, FileRecord } from '#domain/file/record.ts';
import type { Tenant } from '#domain/shared/access.ts';
import { type FileDocument, files } from '#projections/files/files.ts';

const ListFilesInput = t.intersection([ObjectListInput, t.partial({ purpose: FilePurpose, order: ListOrder })]);

export const listFiles = query<t.TypeOf<typeof ListFilesInput>, Tenant, ObjectList<FileRecord>, 'files'>({
  about: {
    name: 'list_files',
    summary: "List the files of the key's project",
    description: 'Newest first, unless `order` is `asc`.',
    group: 'Files',
    example: {
      output: {
        object: 'list',
        data: [FileRecord.example],
        first_id: FileRecord.example.id,
        last_id: FileRecord.example.id,
        has_more: false,
      },
    },
  },
  plane: 'gateway',
  http: get('/v1/files'),
  access: { scope: 'files:read', subject: null },
  input: ListFilesInput,
  output: objectList(FileRecord),
  failures: [],
  reads: { files },
  readsMany: true,
  answer: ({ input: { purpose, order, ...page }, time, request: { caller } }, { read }) =>
    listObjects<FileRecord, FileDocument>(read.files, caller.projectId, page, {
      where: purpose === undefined ? {} : { purpose },
      newestFirst: order !== 'asc',
      isShown: (head) => !hasExpired(head, time),
    }),
});
