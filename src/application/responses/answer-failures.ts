import type { ByteLimits, ByteShortage } from '#application/access/byte-budget.ts';
import { type Failure, failure } from '#domain/shared/failure.ts';

const mebibyte = 1024 * 1024;

/** The default limits of the bytes of answers that clients have not taken yet. */
export const defaultAnswerByteLimits: ByteLimits = { maxBytesPerProject: 32 * mebibyte, maxBytes: 128 * mebibyte };

const retryAfterSeconds = 1;

const projectFull = failure(
  'too-many-answer-bytes',
  'The answers to this project’s requests take all bytes that they may, until they are read. Read them, then try again.',
  { retryAfterSeconds },
);

/** The failure of an answer for which this node has no room. */
export const answersFull = failure(
  'answers-full',
  'The answers to all requests take all bytes that this node has room for. Try again later.',
  { retryAfterSeconds },
);

/** The failure of a request that may not begin, because too many bytes of answers wait for their clients. */
export function answerShortageFailure(shortage: ByteShortage): Failure {
  return shortage === 'project' ? projectFull : answersFull;
}
