import type { Timeouts } from '#gateway/config/configuration.ts';

/** How long each phase of an attempt may take, in milliseconds. */
export interface AttemptTimeouts extends Pick<Timeouts, 'connectMs' | 'headersMs' | 'firstContentMs' | 'idleMs'> {
  /** From the request sent to the beginning of a part, for a target that shows signs of life until then. */
  readonly firstPartMs: number;
}

/** How many times as long as a mute target one may take that shows signs of life, but begins nothing. */
const signsOfLifeFactor = 3;

/** The timeouts of an attempt, but for one that waits for a whole answer to be made. */
export function attemptTimeouts(timeouts: Timeouts): AttemptTimeouts {
  return { ...timeouts, firstPartMs: signsOfLifeFactor * timeouts.firstContentMs };
}
