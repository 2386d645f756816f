const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

/** The pauses between the end of a try and the next one. The last pause repeats. */
const pausesMs = [5 * second, 30 * second, 2 * minute, 10 * minute, 30 * minute, hour, 2 * hour];
/** The share by which each pause varies, so that messages that failed together are not retried together. */
const jitter = 0.2;

/** A message is given up, and an endpoint disabled, if every try has failed for this long. */
export const retryForMs = 3 * 24 * hour;

/** The longest pause of all messages that a receiver can ask for. */
export const maxHoldMs = hour;

/** A message whose try has failed. */
export interface FailedMessage {
  /** Tries that have failed. */
  readonly attempts: number;
  /** When the first failed try ended, in ms since 1970. */
  readonly firstTriedAt: number;
  readonly now: number;
  /** How long the receiver asks to wait; 0 if it does not ask. */
  readonly retryAfterMs: number;
  /** From 0 to 1. */
  readonly random: number;
}

/** Returns when to try a message again. A later time that the receiver asks for counts, but not beyond `retryForMs`. */
export function nextTryAt({ attempts, firstTriedAt, now, retryAfterMs, random }: FailedMessage): number {
  const requested = Math.min(now + retryAfterMs, firstTriedAt + retryForMs);
  return Math.max(now + retryPauseMs(attempts, random), requested);
}

/** How long to wait before the next try. @param attempts tries that have failed @param random from 0 to 1 */
function retryPauseMs(attempts: number, random: number): number {
  const pause = pausesMs[Math.min(attempts, pausesMs.length) - 1] ?? 0;
  return Math.round(pause * (1 - jitter + 2 * jitter * random));
}

/** Failed tries in a row after which an endpoint counts as dead. Its queue then tries one message at a time. */
export const deadAfterFailures = 100;

const maxProbePauseMs = minute;

/** The pause after a try of a dead endpoint, in ms. @param failures tries in a row that have failed */
export function probePauseMs(failures: number): number {
  return Math.min(second * 2 ** Math.min(failures - deadAfterFailures, 10), maxProbePauseMs);
}
