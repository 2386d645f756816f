import { cancelBatch } from '#commands/batch/cancel-batch.ts';
import {
  batchChecked,
  batchCreated,
  batchEnded,
  batchId,
  batchTaken,
  cancelRequested,
} from '#test/support/events/batch-events.ts';
import { givenHistory } from '#test/support/harness/command-harness.ts';

const input = { batch_id: batchId };

describe('cancel_batch', () => {
  it('requests the end of a batch that is being checked or is running', () => {
    givenHistory(batchCreated()).when(cancelBatch, input).then(cancelRequested());
    givenHistory(batchCreated(), batchTaken(1), batchChecked(3)).when(cancelBatch, input).then(cancelRequested());
  });

  it('changes nothing when the end was requested before', () => {
    givenHistory(batchCreated(), cancelRequested()).when(cancelBatch, input).then();
    givenHistory(batchCreated(), cancelRequested(), batchEnded('cancelled')).when(cancelBatch, input).then();
  });

  it('refuses to cancel a batch that has ended', () => {
    for (const outcome of ['completed', 'failed', 'expired'] as const) {
      givenHistory(batchCreated(), batchEnded(outcome)).when(cancelBatch, input).then('batch-ended');
    }
  });
});
