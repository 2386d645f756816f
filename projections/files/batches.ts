import type { ListedDocument } from '#application/queries/object-list.ts';
import type { BatchEvents } from '#domain/batch/events.ts';
import { type BatchRecord, batchErrors, changedBatchFacts, newBatchFacts } from '#domain/batch/record.ts';
import type { Tenant } from '#domain/shared/access.ts';
import type { RecordedEventOf } from '#domain/shared/entity.ts';
import { projection } from '#projection-engine/projection.ts';
import { tenantOf } from '#projections/document.ts';

export interface BatchDocument extends Tenant, ListedDocument<BatchRecord> {
  readonly projectId: string | null;
  /** The batch is unfinished, so that a node runs it. */
  readonly open: boolean;
}

export const batches = projection<BatchDocument, BatchEvents>({
  name: 'batches',
  version: 1,
  keys: ({ data }) => [data.id],
  on: {
    BatchCreated: (_, { data, metadata }) => ({
      ...tenantOf(metadata),
      listedIn: data.projectId,
      open: true,
      record: { ...newBatchFacts(data, metadata.time), errors: null, metadata: data.metadata },
    }),
    BatchTaken: after,
    BatchChecked: after,
    BatchLinesCompleted: after,
    BatchCancelRequested: after,
    BatchFinalizing: after,
    BatchEnded: (document, event) => {
      const changed = after(document, event);
      return changed && { ...changed, open: false };
    },
  },
  indexes: [['listedIn'], ['open']],
});

function after(
  document: BatchDocument | null,
  event: RecordedEventOf<Omit<BatchEvents, 'BatchCreated'>>,
): BatchDocument | null {
  if (document === null || document.record === null) return document;
  const record = changedBatchFacts(document.record, event);
  const errors = 'errors' in event.data ? batchErrors(record.errors, event.data) : record.errors;
  return { ...document, record: { ...record, errors } };
}
