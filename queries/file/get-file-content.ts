import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { get } from '#application/operations/operation.ts';
import { contentQuery } from '#application/queries/content-query.ts';
import { hasExpired } from '#domain/file/file.ts';
import { fileId } from '#domain/file/record.ts';
import { notFound } from '#domain/shared/access.ts';
import { type FileDocument, files } from '#projections/files/files.ts';

export const getFileContent = contentQuery<{ readonly file_id: string }, FileDocument>({
  about: {
    name: 'get_file_content',
    summary: 'Download a file',
    description: 'The bytes of the file, or the part that `Range` requests.',
    group: 'Files',
  },
  plane: 'gateway',
  http: get('/v1/files/:file_id/content'),
  access: { scope: 'files:read', subject: { collection: files, parameter: 'file_id', notFound: 'file-not-found' } },
  input: t.type({ file_id: fileId }),
  failures: ['file-not-found'],
  produces: ['application/octet-stream', 'application/jsonl'],
  find: ({ input: { file_id }, subject, time }) => {
    const { listedIn, blobId, contentType, filename, bytes, sha256, expiresAt } = subject.head;
    if (listedIn === null || hasExpired({ expiresAt }, time)) return E.left(notFound('file-not-found', file_id));
    return E.right({ blobId, contentType, filename, bytes, etag: sha256 });
  },
});
