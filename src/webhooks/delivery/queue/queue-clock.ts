/** Time as deliveries see it. Tests pass their own. */
export interface QueueClock {
  /** In ms since 1970. */
  now(): number;
  /** Runs something once, after so many ms. @returns ends it before */
  after(milliseconds: number, run: () => void): () => void;
  /** From 0 to 1. */
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
