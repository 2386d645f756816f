import { fileHistory } from '#domain/file/history.ts';
import { fileId } from '#domain/file/record.ts';
import { getHistory } from '#queries/shared/get-history.ts';

export const getFileHistory = getHistory({
  name: 'get_file_history',
  summary: 'Read the history of a file',
  group: 'Files',
  plane: 'gateway',
  path: '/v1/files/:file_id/history',
  scope: 'files:read',
  parameter: 'file_id',
  idCodec: fileId,
  notFound: 'file-not-found',
  history: fileHistory,
});
