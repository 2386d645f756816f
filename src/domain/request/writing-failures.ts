import type { FailureTexts } from '#domain/shared/failure.ts';

export const writingFailures = {
  'idempotency-key-in-progress': {
    status: 409,
    title: 'A request with this Idempotency-Key is still running',
    solution: 'Wait for the first request, then repeat it with the same `Idempotency-Key`.',
  },
  'too-many-conflicts': {
    status: 409,
    title: 'Too many writers at once',
    solution: 'Send the request again after `Retry-After`: others changed the resource meanwhile.',
  },
  'precondition-failed': {
    status: 412,
    title: 'The resource has changed',
    solution: 'Read the resource, and send its new `ETag` in `If-Match`.',
  },
  'append-too-large': {
    status: 413,
    title: 'The change is too large to be stored',
    solution: 'Split the change: one request may store as much as `detail` says.',
  },
  'idempotency-key-reused': {
    status: 422,
    title: 'The Idempotency-Key was used for another body',
    solution: 'Use a new `Idempotency-Key` for another body.',
  },
  'idempotency-key-erased': {
    status: 422,
    title: 'What the Idempotency-Key was used for was erased',
    solution: 'Use a new `Idempotency-Key`: the personal data of the first request was erased.',
  },
} as const satisfies FailureTexts;
