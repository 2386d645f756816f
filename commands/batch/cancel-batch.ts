import * as t from 'io-ts';
import { command } from '#application/commands/command.ts';
import { post } from '#application/operations/operation.ts';
import { batch, cancelRequested } from '#domain/batch/batch.ts';
import type { BatchEvents } from '#domain/batch/events.ts';
import { BatchRecord, batchId } from '#domain/batch/record.ts';

export const cancelBatch = command({
  about: {
    name: 'cancel_batch',
    summary: 'Cancel a batch',
    description: 'No more lines are run. The results of finished lines stay in the output and error files.',
    group: 'Batches',
    example: { output: { ...BatchRecord.example, status: 'cancelling', cancelling_at: 1_767_605_460 } },
  },
  plane: 'gateway',
  http: post('/v1/batches/:batch_id/cancel'),
  access: { scope: 'batches:write', subject: { entity: batch, parameter: 'batch_id' } },
  input: t.type({ batch_id: batchId }),
  output: BatchRecord,
  failures: ['batch-not-found', 'batch-ended'],
  entity: batch,
  decide: (_, state) => cancelRequested(state),
  answer: async ({ state, dataAt }) => {
    if (state === null) throw new Error('an answer about a batch needs one');
    const { metadata } = (await dataAt(0)) as unknown as BatchEvents['BatchCreated'];
    return { ...state.facts, errors: null, metadata };
  },
});
