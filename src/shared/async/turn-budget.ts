/**
 * Limits the work of all requests together in one turn of the event loop. Each request may be short, but many that
 * arrive together would otherwise all run before anything else.
 */
export class TurnBudget {
  readonly #perTurn: number;
  readonly #waiting: { readonly work: number; readonly begin: () => void }[] = [];
  #left: number;
  #isScheduled = false;

  /** @param perTurn the work in one turn, in a unit of the caller; the last work of a turn may exceed it */
  constructor(perTurn: number) {
    this.#perTurn = perTurn;
    this.#left = perTurn;
  }

  /**
   * Takes work from the budget of a turn, and resolves in that turn: at once, or after earlier callers.
   * @param work the amount, or an estimate
   */
  async take(work: number): Promise<void> {
    if (this.#left > 0 && this.#waiting.length === 0) this.spend(work);
    else await new Promise<void>((begin) => this.#waiting.push({ work, begin }));
  }

  /**
   * Does work whose size is known only afterwards, in a turn with some budget left.
   * @param sizeOf returns the size of the work from its result
   */
  async run<Result>(work: () => Result, sizeOf: (result: Result) => number): Promise<Result> {
    while (this.#left <= 0) await this.take(0);
    const result = work();
    this.spend(sizeOf(result));
    return result;
  }

  /** Takes work from this turn's budget without waiting, to correct an estimate. A negative number returns some. */
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
