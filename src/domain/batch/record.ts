import * as t from 'io-ts';
import { fileId, unixSeconds, unixTime } from '#domain/file/record.ts';
import type { RecordedEventOf } from '#domain/shared/entity.ts';
import { exampleIds } from '#domain/shared/examples.ts';
import { checked } from '#shared/codecs/checked.ts';
import { enumeration, nullable, oneOf } from '#shared/codecs/choice.ts';
import { withJsonSchema } from '#shared/codecs/json-schema.ts';
import { integer } from '#shared/codecs/number.ts';
import { record } from '#shared/codecs/record.ts';
import { codePoints, text, textLike } from '#shared/codecs/text.ts';
import { BatchEndpoint, type BatchEvents } from './events.ts';

/** An id in OpenAI's form. */
export const batchId = withJsonSchema(textLike(/^batch_[0-9a-z]{8,64}$/), {
  type: 'string',
  pattern: '^batch_[0-9a-z]{8,64}$',
  examples: ['batch_cb7v1z5d9w3k0p4x8m2t6q1n'],
});

const BatchStatus = enumeration(
  'BatchStatus',
  'validating',
  'failed',
  'in_progress',
  'finalizing',
  'completed',
  'expired',
  'cancelling',
  'cancelled',
);

const count = integer(0, Number.MAX_SAFE_INTEGER);

const BatchErrorRecord = t.type(
  {
    code: text(),
    line: nullable(integer(1, Number.MAX_SAFE_INTEGER)),
    message: text(),
    param: nullable(text()),
  },
  'BatchError',
);

/** The client's own texts: at most sixteen, as in OpenAI's API. */
export const BatchMetadata = checked(t.record(t.string, t.string), (metadata) => {
  const entries = Object.entries(metadata);
  if (entries.length > 16) return [{ path: [], value: metadata, message: 'must have at most 16 members' }];
  return entries.flatMap(([key, value]) => {
    const isFine = codePoints(key) <= 64 && codePoints(value) <= 512;
    const message = 'must have at most 512 characters, and 64 in its name';
    return isFine ? [] : [{ path: [key], value, message }];
  });
});

/** A batch in the form of OpenAI's object. */
export const BatchRecord = record('Batch', {
  id: [batchId, exampleIds.batch],
  object: [oneOf('batch'), 'batch'],
  endpoint: [BatchEndpoint, '/v1/chat/completions'],
  errors: [nullable(t.type({ object: oneOf('list'), data: t.readonlyArray(BatchErrorRecord) })), null],
  input_file_id: [fileId, exampleIds.file],
  completion_window: [oneOf('24h'), '24h'],
  status: [BatchStatus, 'in_progress'],
  output_file_id: [nullable(fileId), null],
  error_file_id: [nullable(fileId), null],
  created_at: [unixTime, 1_767_605_400],
  in_progress_at: [nullable(unixTime), 1_767_605_401],
  expires_at: [unixTime, 1_767_691_800],
  finalizing_at: [nullable(unixTime), null],
  completed_at: [nullable(unixTime), null],
  failed_at: [nullable(unixTime), null],
  expired_at: [nullable(unixTime), null],
  cancelling_at: [nullable(unixTime), null],
  cancelled_at: [nullable(unixTime), null],
  request_counts: [t.type({ total: count, completed: count, failed: count }), { total: 3, completed: 1, failed: 0 }],
  metadata: [nullable(t.record(t.string, t.string)), { run: 'nightly' }],
});

export type BatchRecord = t.TypeOf<typeof BatchRecord>;

/** A batch without the client's texts. */
export type BatchFacts = Omit<BatchRecord, 'metadata' | 'errors'>;

const windowSeconds = 24 * 60 * 60;

export function newBatchFacts(
  { id, endpoint, inputFileId, completionWindow }: BatchEvents['BatchCreated'],
  time: string,
): BatchFacts {
  const createdAt = unixSeconds(time);
  return {
    id,
    object: 'batch',
    endpoint,
    input_file_id: inputFileId,
    completion_window: completionWindow,
    status: 'validating',
    output_file_id: null,
    error_file_id: null,
    created_at: createdAt,
    in_progress_at: null,
    expires_at: createdAt + windowSeconds,
    finalizing_at: null,
    completed_at: null,
    failed_at: null,
    expired_at: null,
    cancelling_at: null,
    cancelled_at: null,
    request_counts: { total: 0, completed: 0, failed: 0 },
  };
}

export function changedBatchFacts<Facts extends BatchFacts>(
  facts: Facts,
  event: RecordedEventOf<Omit<BatchEvents, 'BatchCreated'>>,
): Facts {
  const now = unixSeconds(event.metadata.time);
  switch (event.type) {
    case 'BatchTaken':
      return facts;
    case 'BatchChecked': {
      const request_counts = { ...facts.request_counts, total: event.data.total };
      const status = facts.status === 'validating' ? 'in_progress' : facts.status;
      return { ...facts, status, in_progress_at: now, request_counts };
    }
    case 'BatchLinesCompleted': {
      const { total, completed, failed } = facts.request_counts;
      const counts = { total, completed: completed + event.data.completed, failed: failed + event.data.failed };
      return { ...facts, request_counts: counts };
    }
    case 'BatchCancelRequested':
      return { ...facts, status: 'cancelling', cancelling_at: now };
    case 'BatchFinalizing':
      return finalizing(facts, event.data.outcome, now);
    case 'BatchEnded':
      return ended(facts, event.data, now);
  }
}

/** A failed batch shows its status immediately; a cancelled one stays `cancelling` while its files are written. */
function finalizing<Facts extends BatchFacts>(
  facts: Facts,
  outcome: BatchEvents['BatchEnded']['outcome'],
  now: number,
) {
  if (outcome === 'failed') return { ...facts, status: 'failed' as const, failed_at: now };
  if (outcome === 'cancelled') return facts;
  return { ...facts, status: 'finalizing' as const, finalizing_at: now };
}

function ended<Facts extends BatchFacts>(
  facts: Facts,
  { outcome, outputFileId, errorFileId }: BatchEvents['BatchEnded'],
  now: number,
): Facts {
  const files = { output_file_id: outputFileId, error_file_id: errorFileId };
  switch (outcome) {
    case 'completed':
      return { ...facts, ...files, status: 'completed', completed_at: now };
    case 'failed':
      return { ...facts, ...files, status: 'failed', failed_at: facts.failed_at ?? now };
    case 'expired':
      return { ...facts, ...files, status: 'expired', expired_at: now };
    case 'cancelled':
      return { ...facts, ...files, status: 'cancelled', cancelled_at: now };
  }
}

export function batchErrors(
  before: BatchRecord['errors'],
  { errors }: Pick<BatchEvents['BatchEnded'], 'errors'>,
): BatchRecord['errors'] {
  return errors.length === 0 ? before : { object: 'list', data: errors };
}
