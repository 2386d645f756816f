import type { ByteLimits, ByteShortage } from '#application/access/byte-budget.ts';
import { type Failure, failure } from '#domain/shared/failure.ts';

const mebibyte = 1024 * 1024;

/** The default limits of the bytes of bodies in memory. */
export const defaultBodyByteLimits: ByteLimits = { maxBytesPerProject: 128 * mebibyte, maxBytes: 512 * mebibyte };

/**
 * Node's overhead for each piece of a body. Without it, pieces of one byte would take far more memory than they count.
 */
const bytesBesidePiece = 256;

/** The memory that a piece of a body takes, in bytes. */
export function heldBytesOf(piece: Buffer): number {
  return piece.length + bytesBesidePiece;
}

const retryAfterSeconds = 1;

/** The failure of a body for which no room is left. */
export function bodyShortageFailure(shortage: ByteShortage): Failure {
  return shortage === 'project' ? projectFull : nodeFull;
}

const projectFull = failure(
  'too-many-body-bytes',
  'The bodies of this project’s requests are at their limit of bytes. Try again when one has been answered.',
  { retryAfterSeconds },
);

const nodeFull = failure(
  'bodies-full',
  'The bodies of all requests are at this node’s limit of bytes. Try again later.',
  { retryAfterSeconds },
);

/** The failure of an unfinished body that was evicted for others. */
export const bodyEvicted = failure(
  'body-evicted',
  'The node has no memory left for bodies, and this project has most of it. So the node ended this unfinished body. Send it again, faster.',
  { retryAfterSeconds },
);

/** The refusal of a body of more than this many bytes. */
export function bodyTooLarge(maxBytes: number): Failure {
  return failure('body-too-large', `The body has more than ${maxBytes} bytes, the most that is allowed.`);
}
