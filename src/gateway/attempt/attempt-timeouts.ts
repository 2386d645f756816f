import type { Target } from '#gateway/config/catalogue.ts';
import type { Timeouts } from '#gateway/transport/timeouts.ts';

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

/** The state of a call that waits for a whole answer to be made. */
interface WaitingCall {
  /** The time left for the whole call. */
  readonly remainingMs: number;
  /** How many targets may still serve it, with the one that is asked. */
  readonly targetsLeft: number;
}

const lastWaitMs = 300_000;
const minWaitMs = 60_000;

/**
 * The timeouts of an attempt whose provider sends nothing before it has made the whole answer. What the configuration
 * does not state leaves time for the targets after it.
 */
export function wholeAnswerTimeouts(target: Target, { remainingMs, targetsLeft }: WaitingCall): AttemptTimeouts {
  const isLast = targetsLeft === 1;
  const waitMs = isLast ? lastWaitMs : Math.max(minWaitMs, remainingMs / targetsLeft);
  const { headersMs = waitMs, firstContentMs } = target.statedTimeouts;
  if (firstContentMs !== undefined) return { ...attemptTimeouts(target.timeouts), headersMs };
  // No other target waits for the last one, so signs of life may keep it up to the total.
  return { ...target.timeouts, headersMs, firstContentMs: waitMs, firstPartMs: isLast ? remainingMs : waitMs };
}
