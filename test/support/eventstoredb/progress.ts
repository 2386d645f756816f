/** Progress along a log that a test can hold back: that of an index, or of the replication to a node. */
export class Progress {
  /** The delay between what becomes possible and what is done. */
  lagMs = 0;
  /** The number of events that it stays behind. */
  lagEvents = 0;
  readonly #advance: (goal: number) => void;
  #goal = 0;
  #holds = 0;
  /** Counts the resets, so that a delay from before a reset does nothing. */
  #resets = 0;

  /** @param advance advances to an end of the log */
  constructor(advance: (goal: number) => void) {
    this.#advance = advance;
  }

  get isHeld(): boolean {
    return this.#holds > 0;
  }

  /** Advances to an end of the log, after the delay and once nothing holds it. */
  go(goal: number): void {
    if (this.lagMs === 0) this.#reach(goal);
    else this.#reachLater(goal);
  }

  /** Stops until the returned function is called. Several holds may overlap. */
  hold(): () => void {
    let isHeld = true;
    this.#holds += 1;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#holds -= 1;
      this.#reach(this.#goal);
    };
  }

  /** Forgets how far it may go, because the log became shorter or another one. */
  reset(): void {
    this.#resets += 1;
    this.#goal = 0;
  }

  #reachLater(goal: number): void {
    const resets = this.#resets;
    const reach = () => {
      if (resets === this.#resets) this.#reach(goal);
    };
    setTimeout(reach, this.lagMs).unref();
  }

  #reach(goal: number): void {
    this.#goal = Math.max(this.#goal, goal);
    if (!this.isHeld) this.#advance(this.#goal);
  }
}
