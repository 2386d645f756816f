const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

/** Between the end of a try and the next one: the last of them again and again. */
const pausesMs = [5 * second, 30 * second, 2 * minute, 10 * minute, 30 * minute, hour, 2 * hour];
/** Each pause differs by so much of itself, so that what failed together is not tried together. */
const jitter = 0.2;

/** A message, and an endpoint, whose every try has failed for so long is given up. */
export const retryForMs = 3 * 24 * hour;

/** A receiver that asks for a pause of everything gets one of so much at most. */
export const longestHoldMs = hour;

/** A message whose try has failed. */
export interface FailedMessage {
  /** Tries that have failed. */
  readonly attempts: number;
  /** When the first of them ended, in ms since 1970. */
  readonly firstTriedAt: number;
  readonly now: number;
  /** How long the receiver asks to wait; 0 where it does not. */
  readonly retryAfterMs: number;
  /** From 0 to 1. */
  readonly random: number;
}

/** When to try a message again: when the receiver asks for it, if that is later, but while the message is not given up. */
export function nextTryAt({ attempts, firstTriedAt, now, retryAfterMs, random }: FailedMessage): number {
  const asked = Math.min(now + retryAfterMs, firstTriedAt + retryForMs);
  return Math.max(now + retryPauseMs(attempts, random), asked);
}

/** How long to wait before the next try. @param attempts that have failed @param random from 0 to 1 */
function retryPauseMs(attempts: number, random: number): number {
  const pause = pausesMs[Math.min(attempts, pausesMs.length) - 1] ?? 0;
  return Math.round(pause * (1 - jitter + 2 * jitter * random));
}

/** Tries in a row that fail before an endpoint counts as dead: it is then tried by one message at a time. */
export const deadAfterFailures = 100;

const longestProbePauseMs = minute;

/** How long a dead endpoint is left alone after a try. @param failures tries in a row that have failed */
export function probePauseMs(failures: number): number {
  return Math.min(second * 2 ** Math.min(failures - deadAfterFailures, 10), longestProbePauseMs);
}
