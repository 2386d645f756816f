import { pause } from '#src/pause.ts';

/** One node's own time. Nothing compares it with another node's. */
export interface Clock {
  /** Milliseconds since some moment; never goes back. */
  now(): number;
  /** Waits, for less when the signal aborts. */
  pause(milliseconds: number, signal: AbortSignal): Promise<void>;
  /** Waits for between half and all of a time, so that many nodes do not come at once. */
  pauseUpTo(milliseconds: number, signal: AbortSignal): Promise<void>;
}

export const monotonicClock: Clock = {
  now: () => performance.now(),
  pause,
  pauseUpTo: (milliseconds, signal) => pause(milliseconds * (0.5 + Math.random() / 2), signal),
};
