/** One unit is about 100 ns of work, or one character of the answer. */
const maxUnits = 250_000;

/**
 * What one answer to a schema may cost: the work and the result together, over all depths, alternatives and choices.
 * Each step pays before it runs, so that a small schema can demand neither long work nor a huge answer.
 */
export class SampleBudget {
  readonly #choices: number;
  #left = maxUnits;
  #isSpent = false;

  /** @param choices how many times the answer holds the value */
  constructor(choices: number) {
    this.#choices = choices;
  }

  /** Whether a step was refused. Other ways to make a value need not be tried then. */
  get isSpent(): boolean {
    return this.#isSpent;
  }

  get left(): number {
    return this.#left;
  }

  /**
   * Pays for work.
   * @throws UnfitSchemaError if less is left
   */
  spend(units: number): void {
    if (units <= this.#left) {
      this.#left -= units;
      return;
    }
    this.#isSpent = true;
    throw new UnfitSchemaError('The schema demands more values than the sandbox makes.');
  }

  /**
   * Pays for characters of the value, in each choice.
   * @throws UnfitSchemaError if less is left
   */
  spendOnResult(characters: number): void {
    this.spend(characters * this.#choices);
  }
}

/** The sandbox makes no value for a schema. The message says why, for the client. */
export class UnfitSchemaError extends Error {
  override readonly name = 'UnfitSchemaError';
}
