import { setImmediate as nextTurn } from 'node:timers/promises';

export interface Timer {
  /** Lets the process end although the timer has not run. */
  unref(): this;
}

/** The time and the timers of whatever waits or measures, so that a simulation can replace them. */
export interface Clock {
  /** A monotonic time in ms. */
  readonly now: () => number;
  /** The time in ms since 1970. */
  readonly time: () => number;
  readonly setTimeout: (run: () => void, milliseconds: number) => Timer;
  readonly clearTimeout: (timer: Timer | null | undefined) => void;
  readonly setInterval: (run: () => void, milliseconds: number) => Timer;
  readonly clearInterval: (timer: Timer | null | undefined) => void;
  /** Runs when everything that is due in this turn of the event loop has run. */
  readonly setImmediate: (run: () => void) => void;
  /** Resolves when everything that is due in this turn of the event loop has run. */
  readonly nextTurn: () => Promise<void>;
}

const machineClock: Clock = {
  now: () => performance.now(),
  time: Date.now,
  setTimeout: (run, milliseconds) => setTimeout(run, milliseconds),
  clearTimeout: (timer) => clearTimeout(timer as NodeJS.Timeout),
  setInterval: (run, milliseconds) => setInterval(run, milliseconds),
  clearInterval: (timer) => clearInterval(timer as NodeJS.Timeout),
  setImmediate: (run) => void setImmediate(run),
  nextTurn: () => nextTurn(),
};

let used = machineClock;

/** The clock of the machine, unless a simulation has replaced it. */
export const clock: Clock = {
  now: () => used.now(),
  time: () => used.time(),
  setTimeout: (run, milliseconds) => used.setTimeout(run, milliseconds),
  clearTimeout: (timer) => used.clearTimeout(timer),
  setInterval: (run, milliseconds) => used.setInterval(run, milliseconds),
  clearInterval: (timer) => used.clearInterval(timer),
  setImmediate: (run) => used.setImmediate(run),
  nextTurn: () => used.nextTurn(),
};

/** Replaces the clock, only for tests. @returns a function that restores the machine's clock */
export function replaceClock(by: Partial<Clock>): () => void {
  used = { ...machineClock, ...by };
  return () => {
    used = machineClock;
  };
}
