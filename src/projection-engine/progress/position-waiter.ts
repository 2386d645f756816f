import type { ServedPosition } from '#read-store/published-positions.ts';

/** `reached`: the projections have passed the position. `timeout`: the time ran out first. */
export type WaitOutcome = 'reached' | 'timeout';

interface Wait {
  readonly projections: ReadonlyArray<number>;
  readonly position: number;
  /** Also wait for projections that do not follow the log. */
  readonly strict: boolean;
  readonly end: (outcome: WaitOutcome) => void;
}

/** The most waits that may run at a time: a further one ends with `timeout` at once. */
const maxWaits = 10_000;

/** Holds callers until the documents that queries read have passed a position. */
export class PositionWaiter {
  readonly #waits = new Set<Wait>();
  #served: ReadonlyArray<ServedPosition | undefined> = [];

  /** Whether a caller waits. */
  get waiting(): boolean {
    return this.#waits.size > 0;
  }

  /** Sets the projections' current positions, in their order; undefined for a projection whose position is unknown. */
  update(served: ReadonlyArray<ServedPosition | undefined>): void {
    this.#served = served;
    for (const wait of this.#waits) if (this.#passed(wait)) wait.end('reached');
  }

  /**
   * Waits until every one of some projections has passed a position.
   * @param projections their indexes in that order
   * @param strict whether to wait also for projections that do not follow the log at present
   */
  wait(projections: ReadonlyArray<number>, position: number, strict: boolean, timeoutMs: number): Promise<WaitOutcome> {
    const wanted = { projections, position, strict };
    if (this.#passed(wanted)) return Promise.resolve('reached');
    if (this.#waits.size >= maxWaits || timeoutMs <= 0) return Promise.resolve('timeout');
    return new Promise((resolve) => {
      const wait: Wait = {
        ...wanted,
        end: (outcome) => {
          clearTimeout(timer);
          this.#waits.delete(wait);
          resolve(outcome);
        },
      };
      const timer = setTimeout(() => wait.end('timeout'), timeoutMs);
      this.#waits.add(wait);
    });
  }

  /** Ends every wait. */
  close(): void {
    for (const wait of [...this.#waits]) wait.end('timeout');
  }

  #passed({ projections, position, strict }: Omit<Wait, 'end'>): boolean {
    return projections.every((index) => {
      const served = this.#served[index];
      if (served === undefined) return !strict;
      return served.position >= position || !(served.live || strict);
    });
  }
}
