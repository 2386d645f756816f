import { delay } from '#shared/async/timed-waits.ts';
import { chance } from '#shared/chance.ts';
import { clock } from '#shared/clock.ts';

/** One node's own time and randomness. Nothing compares them with another node's. */
export interface Clock {
  /** Milliseconds since some moment; never goes back. */
  now(): number;
  /** Waits, for less when the signal aborts. */
  pause(milliseconds: number, signal: AbortSignal): Promise<void>;
  /** From 0 to 1, so that many nodes do not come at once. */
  random(): number;
}

/** The clock of this process. It never goes back. */
export const monotonicClock: Clock = {
  now: () => clock.now(),
  pause: delay,
  random: chance.random,
};
