/**
 * The states that one writer made in turn, as readers see them. A state is one of few, and comes back after all others:
 * a reader that sees an older one than before is found, for the next one of its kind is not made yet.
 */
export class StateHistory {
  readonly #states: string[] = [];
  #acknowledged = -1;

  /** Remembers a state that a request is about to make. */
  begin(state: string): void {
    this.#states.push(state);
  }

  /** Remembers that the state begun last is made. */
  acknowledge(): void {
    this.#acknowledged = this.#states.length - 1;
  }

  /** The number of the newest state that is made. */
  get acknowledged(): number {
    return this.#acknowledged;
  }

  /**
   * Returns the number of the first state from `from` on that equals this one.
   * @returns null if there was none: the state never was, or is older
   */
  find(state: string, from: number): number | null {
    const found = this.#states.indexOf(state, Math.max(0, from));
    return found === -1 ? null : found;
  }
}
