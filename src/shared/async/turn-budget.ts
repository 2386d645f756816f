/**
 * Bounds the work that many requests do together between two turns of the event loop. Each of them may be short, but
 * those that arrive at once would run one after the other before anything else gets its turn.
 */
export class TurnBudget {
  readonly #perTurn: number;
  readonly #waiting: { readonly work: number; readonly begin: () => void }[] = [];
  #left: number;
  #isScheduled = false;

  /** @param perTurn work in one turn, in a unit of the caller's; the last work that begins in a turn may exceed it */
  constructor(perTurn: number) {
    this.#perTurn = perTurn;
    this.#left = perTurn;
  }

  /**
   * Takes work from the budget of a turn that has some left, and resolves in that turn: at once, or when those that
   * waited before have had theirs.
   * @param work an estimate where it is not known yet
   */
  async take(work: number): Promise<void> {
    if (this.#left > 0 && this.#waiting.length === 0) this.spend(work);
    else await new Promise<void>((begin) => this.#waiting.push({ work, begin }));
  }

  /**
   * Does work whose size shows only when it is done, in a turn that has some budget left.
   * @param sizeOf the work that its result took
   */
  async run<Result>(work: () => Result, sizeOf: (result: Result) => number): Promise<Result> {
    while (this.#left <= 0) await this.take(0);
    const result = work();
    this.spend(sizeOf(result));
    return result;
  }

  /** Takes work from this turn's budget without waiting: what an estimate lacked. A negative number gives back. */
  spend(work: number): void {
    this.#left = Math.min(this.#perTurn, this.#left - work);
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => this.#beginTurn());
  }

  #beginTurn(): void {
    this.#isScheduled = false;
    this.#left = this.#perTurn;
    while (this.#left > 0) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      this.spend(next.work);
      next.begin();
    }
  }
}
