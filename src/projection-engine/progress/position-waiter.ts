import type { ServedPosition } from '#projection-engine/projection-runtime.ts';

/** Whether the projections waited for have passed the position, or the time ran out first. */
export type WaitOutcome = 'reached' | 'timeout';

interface Wait {
  readonly projections: ReadonlyArray<number>;
  readonly position: number;
  /** Projections that do not follow the log are waited for too. */
  readonly strict: boolean;
  readonly end: (outcome: WaitOutcome) => void;
}

/** Waits under way at most: one more is told `timeout` at once. */
const maxWaits = 10_000;

/** Those who wait until what queries read has passed a position. */
export class PositionWaiter {
  readonly #waits = new Set<Wait>();
  #served: ReadonlyArray<ServedPosition | undefined> = [];

  /** Whether anybody waits. */
  get waiting(): boolean {
    return this.#waits.size > 0;
  }

  /** Tells where the projections stand now, in their order; undefined for one of which nothing is known. */
  update(served: ReadonlyArray<ServedPosition | undefined>): void {
    this.#served = served;
    for (const wait of this.#waits) if (this.#passed(wait)) wait.end('reached');
  }

  /**
   * Waits until every one of some projections has passed a position.
   * @param projections their places in the order
   * @param strict whether to wait for those, too, that do not follow the log just now
   */
  wait(
    projections: ReadonlyArray<number>,
    position: number,
    strict: boolean,
    timeoutMilliseconds: number,
  ): Promise<WaitOutcome> {
    const wanted = { projections, position, strict };
    if (this.#passed(wanted)) return Promise.resolve('reached');
    if (this.#waits.size >= maxWaits || timeoutMilliseconds <= 0) return Promise.resolve('timeout');
    return new Promise((resolve) => {
      const wait: Wait = {
        ...wanted,
        end: (outcome) => {
          clearTimeout(timer);
          this.#waits.delete(wait);
          resolve(outcome);
        },
      };
      const timer = setTimeout(() => wait.end('timeout'), timeoutMilliseconds);
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
