import * as t from 'io-ts';
import { enumeration, nullable, oneOf } from '#shared/codecs/choice.ts';

/** The endpoints that a batch may call. */
export const batchEndpoints = [
  '/v1/chat/completions',
  '/v1/responses',
  '/v1/messages',
  '/v1/embeddings',
  '/v1/audio/speech',
  '/v1/audio/transcriptions',
] as const;

export const BatchEndpoint = enumeration('BatchEndpoint', ...batchEndpoints);

const BatchOutcome = oneOf('completed', 'failed', 'expired', 'cancelled');

/** Why a batch failed; `line` counts from 1. */
const BatchError = t.type({
  code: t.string,
  line: nullable(t.number),
  message: t.string,
  param: nullable(t.string),
});

export type BatchError = t.TypeOf<typeof BatchError>;

/**
 * The events of a batch's stream. `token` identifies the run that records: a run after which another has begun records
 * nothing. The lines' bytes are in the blob store.
 */
export const batchEvents = {
  BatchCreated: t.type({
    id: t.string,
    projectId: t.string,
    /** The key that created it. The calls are metered to that key. */
    keyId: t.string,
    inputFileId: t.string,
    inputBlobId: t.string,
    inputBytes: t.number,
    endpoint: BatchEndpoint,
    completionWindow: oneOf('24h'),
    metadata: nullable(t.record(t.string, t.string)),
    /** Lifetime of its output and error files; null if they do not expire. */
    outputExpiresAfterSeconds: nullable(t.number),
  }),
  /** A run begins, on a node under a lease; `leaseToken` is 0 if the node is the only one. */
  BatchTaken: t.type({ id: t.string, token: t.number, leaseToken: t.number }),
  /** The input is valid and has this number of lines. */
  BatchChecked: t.type({ id: t.string, token: t.number, total: t.number }),
  /** Lines have their outcomes, in a part in the blob store: first the output, then the errors. */
  BatchLinesCompleted: t.type({
    id: t.string,
    token: t.number,
    /** The number of the part, from 0. */
    part: t.number,
    blobId: t.string,
    /** Numbers of lines, as ranges: `1-31,35`. */
    lines: t.string,
    completed: t.number,
    failed: t.number,
    outputBytes: t.number,
    errorBytes: t.number,
  }),
  BatchCancelRequested: t.type({ id: t.string }),
  /** No more lines run. The results are written to files. */
  BatchFinalizing: t.type({
    id: t.string,
    token: t.number,
    outcome: BatchOutcome,
    errors: t.readonlyArray(BatchError),
  }),
  BatchEnded: t.type({
    id: t.string,
    token: t.number,
    outcome: BatchOutcome,
    errors: t.readonlyArray(BatchError),
    outputFileId: nullable(t.string),
    errorFileId: nullable(t.string),
    /** The size of its parts in the blob store, which are released. */
    partBytes: t.number,
  }),
};

export type BatchEvents = { [Type in keyof typeof batchEvents]: t.TypeOf<(typeof batchEvents)[Type]> };
