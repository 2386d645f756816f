import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { type OnceOnOneNodeOptions, onceOnOneNode, type WorkInTurn } from './once-on-one-node.ts';

/** Runs occasional work, one piece at a time across all nodes. */
export class ExclusiveTurns {
  readonly #options: Omit<OnceOnOneNodeOptions, 'signal'>;
  readonly #stopping = new AbortController();
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: Omit<OnceOnOneNodeOptions, 'signal'>) {
    this.#options = options;
  }

  /**
   * Runs a piece of work when its turn comes.
   * @throws UnavailableError if another node works for too long, or if this one stops; what the work throws
   */
  run<Result>(work: WorkInTurn<Result>): Promise<Result> {
    const turn = this.#last.then(() => this.#work(work));
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  /** Aborts the running work, and refuses further work. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#last;
  }

  async #work<Result>(work: WorkInTurn<Result>): Promise<Result> {
    const { signal } = this.#stopping;
    if (signal.aborted) throw new UnavailableError('The service is stopping.');
    return onceOnOneNode({ ...this.#options, signal }, work);
  }
}
