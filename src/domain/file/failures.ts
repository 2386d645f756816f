import type { FailureTexts } from '#domain/shared/failure.ts';

export const fileFailures = {
  'file-not-found': {
    status: 404,
    title: 'No such file',
    solution: 'List the files of the project with `GET /v1/files`; a file may have expired.',
  },
  'file-in-use': {
    status: 409,
    title: 'A batch reads the file',
    solution: 'Wait for the batch, or cancel it: `POST /v1/batches/{batch_id}/cancel`.',
  },
  'file-too-large': {
    status: 413,
    title: 'The file is too large',
    solution: 'Upload a smaller file, or ask the operator for a higher `MAX_FILE_BYTES`.',
  },
  'files-quota-exceeded': {
    status: 413,
    title: 'The project has no room for more files',
    solution: 'Delete files with `DELETE /v1/files/{file_id}`, or ask the operator for a higher `FILES_QUOTA_BYTES`.',
  },
  'range-not-satisfiable': {
    status: 416,
    title: 'The file has no such part',
    solution: 'Ask for a `Range` within the size that `Content-Range` names.',
  },
  'too-many-files': {
    status: 422,
    title: 'The request names too many files',
    solution: 'Name fewer files; `detail` has the limit. Each mention of a file counts.',
  },
} as const satisfies FailureTexts;
