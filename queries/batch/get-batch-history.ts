import { batchHistory } from '#domain/batch/history.ts';
import { batchId } from '#domain/batch/record.ts';
import { getHistory } from '#queries/shared/get-history.ts';

export const getBatchHistory = getHistory({
  name: 'get_batch_history',
  summary: 'Read the history of a batch',
  group: 'Batches',
  plane: 'gateway',
  path: '/v1/batches/:batch_id/history',
  scope: 'batches:read',
  parameter: 'batch_id',
  idCodec: batchId,
  notFound: 'batch-not-found',
  history: batchHistory,
});
