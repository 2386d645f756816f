import { entityHistory, unlisted } from '#domain/history/listed-event.ts';
import type { ResourceName } from '#domain/history/record.ts';
import type { DataAt } from '#domain/shared/text-reference.ts';
import { type BatchState, batch } from './batch.ts';
import type { BatchEvents } from './events.ts';
import { type BatchRecord, batchErrors } from './record.ts';

const itself = ({ id }: { readonly id: string }): ResourceName => ({ kind: 'batch', id });

/** Progress is listed only if it changes the status. */
export const batchHistory = entityHistory<BatchState, BatchEvents>({
  entity: batch,
  events: {
    BatchCreated: { resource: itself, summary: ({ endpoint }) => `A batch of calls to ${endpoint} was created.` },
    BatchTaken: unlisted,
    BatchChecked: {
      resource: itself,
      summary: ({ total }) => `The input of the batch was checked: ${total} ${total === 1 ? 'line' : 'lines'}.`,
    },
    BatchLinesCompleted: unlisted,
    BatchCancelRequested: { resource: itself, summary: () => 'The batch is to be cancelled.' },
    BatchFinalizing: { resource: itself, summary: ({ outcome }) => `The batch is being finished as ${outcome}.` },
    BatchEnded: { resource: itself, summary: ({ outcome }) => `The batch ended as ${outcome}.` },
  },
  record: async (state, _, { dataAt }) => (state === null ? null : recordOf(state, dataAt)),
});

async function recordOf({ facts, errorsRevision }: NonNullable<BatchState>, dataAt: DataAt): Promise<BatchRecord> {
  const { metadata } = (await dataAt(0)) as unknown as BatchEvents['BatchCreated'];
  if (errorsRevision === null) return { ...facts, metadata, errors: null };
  const failed = (await dataAt(errorsRevision)) as unknown as BatchEvents['BatchEnded'];
  return { ...facts, metadata, errors: batchErrors(null, failed) };
}
