import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { command } from '#application/commands/command.ts';
import { UploadedFile } from '#application/files/uploaded-file.ts';
import { post } from '#application/operations/operation.ts';
import type { FileEvents } from '#domain/file/events.ts';
import { file, fileMade, newFileId, newFileRecord } from '#domain/file/file.ts';
import { ExpiresAfter, FilePurpose, FileRecord } from '#domain/file/record.ts';

export const createFile = command({
  about: {
    name: 'create_file',
    summary: 'Upload a file',
    description:
      "The file belongs to the key's project. Send the members of `expires_after` as `expires_after[anchor]` and `expires_after[seconds]`.",
    group: 'Files',
    example: { input: { file: 'input.jsonl', purpose: 'batch' }, output: FileRecord.example },
  },
  plane: 'gateway',
  http: post('/v1/files'),
  access: { scope: 'files:write', subject: null },
  input: t.intersection([
    t.type({ file: UploadedFile, purpose: FilePurpose }),
    t.partial({ expires_after: ExpiresAfter }),
  ]),
  output: FileRecord,
  failures: ['body-too-slow', 'file-too-large', 'files-quota-exceeded'],
  entity: file,
  creates: {
    id: (_, newIds) => newFileId(newIds.id),
    isIdUsed: (state) => state !== null,
    tenant: (_, { caller: { organizationId, projectId, partnerId } }) => ({ organizationId, projectId, partnerId }),
  },
  decide: ({ file: uploaded, purpose, expires_after }, state, { caller: { projectId }, newIds }) => {
    const { blobId, filename, contentType, bytes, sha256 } = uploaded;
    const id = newFileId(newIds.id);
    const expiresAfterSeconds = expires_after?.seconds ?? null;
    const facts = { id, projectId, blobId, filename, purpose, contentType, bytes, sha256, expiresAfterSeconds };
    return E.right(fileMade(facts, state));
  },
  answer: async ({ state, dataAt }) =>
    newFileRecord((await dataAt(0)) as unknown as FileEvents['FileCreated'], state?.createdAt ?? ''),
});
