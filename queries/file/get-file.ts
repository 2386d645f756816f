import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import {
  absentThen,
  asOfInput,
  type Moment,
  type PastReadName,
  type PastReads,
  pastReadNames,
  recordAsOf,
} from '#application/history/as-of.ts';
import { get } from '#application/operations/operation.ts';
import { query } from '#application/queries/query.ts';
import { file, hasExpired } from '#domain/file/file.ts';
import { fileHistory } from '#domain/file/history.ts';
import { FileRecord, fileId } from '#domain/file/record.ts';
import { notFound } from '#domain/shared/access.ts';
import { type FileDocument, files } from '#projections/files/files.ts';
import type { EncodedJson } from '#shared/json/json.ts';

const Input = t.intersection([t.type({ file_id: fileId }), t.partial(asOfInput)]);

export const getFile = query<t.TypeOf<typeof Input>, FileDocument, FileRecord, never, PastReadName>({
  about: {
    name: 'get_file',
    summary: 'Read the description of a file',
    group: 'Files',
    example: { output: FileRecord.example },
  },
  plane: 'gateway',
  http: get('/v1/files/:file_id'),
  access: {
    scope: 'files:read',
    subject: { collection: files, parameter: 'file_id', notFound: 'file-not-found', past: file },
  },
  input: Input,
  output: FileRecord,
  failures: ['file-not-found'],
  reads: {},
  services: pastReadNames,
  answer: async ({ input, subject, time }, sources) => {
    if (input.asOf !== undefined) return fileAsOf(sources, input.file_id, input.asOf);
    const { listedIn, expiresAt } = subject.head;
    if (listedIn === null || hasExpired({ expiresAt }, time)) return E.left(notFound('file-not-found', input.file_id));
    return E.right({ body: subject.record as EncodedJson<FileRecord> });
  },
});

const past = { history: fileHistory, entity: file, kind: 'file', notFound: 'file-not-found' } as const;

/** An expired file counts as deleted even before it is removed. */
async function fileAsOf(reads: PastReads, id: string, asOf: Moment) {
  const found = await recordAsOf<FileRecord>(reads, past, id, asOf);
  if (E.isLeft(found)) return found;
  const { body } = found.right;
  const isExpired = 'time' in asOf && body.expires_at !== null && body.expires_at * 1_000 <= Date.parse(asOf.time);
  return isExpired ? E.left(absentThen('file-not-found', id, asOf)) : E.right({ body });
}
