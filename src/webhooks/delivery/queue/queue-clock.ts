/** The clock of deliveries. Tests pass a different one. */
export interface QueueClock {
  /** In ms since 1970. */
  now(): number;
  /** Runs a function once after a time in ms. @returns a function that cancels it */
  after(milliseconds: number, run: () => void): () => void;
  /** A random number from 0 to 1. */
  random(): number;
}

/** The machine's clock. */
export const systemClock: QueueClock = {
  now: Date.now,
  after: (milliseconds, run) => {
    const timer = setTimeout(run, milliseconds);
    return () => clearTimeout(timer);
  },
  random: Math.random,
};
