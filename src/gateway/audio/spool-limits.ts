import { type Failure, failure } from '#domain/shared/failure.ts';
import type { ByteLimits, ByteShortage } from '#exchange/byte-budget.ts';

const gibibyte = 1024 * 1024 * 1024;

/** The default limits of the bytes of spools on disk. */
export const defaultSpoolByteLimits: ByteLimits = { maxBytesPerProject: gibibyte, maxBytes: 4 * gibibyte };

const retryAfterSeconds = 5;

/** The failure of an upload whose bytes would exceed a limit. */
export function spoolShortageFailure(shortage: ByteShortage): Failure {
  return shortage === 'project' ? projectFull : nodeFull;
}

const projectFull = failure(
  'too-many-spool-bytes',
  'The uploads of this project take as much disk as they may. Try again when one has been answered.',
  { retryAfterSeconds },
);

const nodeFull = failure(
  'spool-full',
  'The uploads of all projects take as much disk as this node has for them. Try again later.',
  { retryAfterSeconds },
);
