import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { command } from '#application/commands/command.ts';
import { remove } from '#application/operations/operation.ts';
import { deletedObject, deletionOf } from '#application/queries/object-list.ts';
import { file, fileRemoved, isFileThere } from '#domain/file/file.ts';
import { FileRecord, fileId } from '#domain/file/record.ts';
import { notFound } from '#domain/shared/access.ts';
import { failure } from '#domain/shared/failure.ts';

export const deleteFile = command({
  about: {
    name: 'delete_file',
    summary: 'Delete a file',
    description: 'The file is also removed from its stores. A file that a running batch reads cannot be deleted: 409.',
    group: 'Files',
    example: { output: deletionOf('file', FileRecord.example.id) },
  },
  plane: 'gateway',
  http: remove('/v1/files/:file_id'),
  access: { scope: 'files:write', subject: { entity: file, parameter: 'file_id' } },
  input: t.type({ file_id: fileId }),
  output: deletedObject('file'),
  failures: ['file-not-found', 'file-in-use'],
  entity: file,
  decide: ({ file_id }, state, { time }) => {
    if (!isFileThere(state, time)) return E.left(notFound('file-not-found', file_id));
    const [batchId] = state.heldBy.keys();
    if (batchId !== undefined) return E.left(inUse(batchId));
    return E.right(fileRemoved('deleted', state));
  },
  answer: ({ input }) => deletionOf('file', input.file_id),
});

function inUse(batchId: string) {
  return failure(
    'file-in-use',
    `The batch ${batchId} reads the file. Wait until the batch has ended or cancel it, and then delete the file.`,
  );
}
