import type { FailureTexts } from '#domain/shared/failure.ts';

export const batchFailures = {
  'batch-not-found': {
    status: 404,
    title: 'No such batch',
    solution: 'List the batches of the project with `GET /v1/batches`.',
  },
  'batch-taken-over': {
    status: 409,
    title: 'Another run of the batch has begun',
    solution: 'Do nothing: the newer run continues the batch.',
  },
  'batch-ended': {
    status: 409,
    title: 'The batch has ended',
    solution:
      'Read its `output_file_id` and `error_file_id` with `GET /v1/batches/{batch_id}`; create another batch for more.',
  },
  'batches-not-running': {
    status: 503,
    title: 'No node runs batches',
    solution: 'Start a node with the roles `gateway` and `projections`.',
  },
} as const satisfies FailureTexts;
