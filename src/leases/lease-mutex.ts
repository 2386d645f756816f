import { clock } from '#shared/clock.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { type OnceOnOneNodeOptions, onceOnOneNode, type WorkInTurn } from './once-on-one-node.ts';

/** Far longer than work on a long log takes. A turn without an end would stop all later ones. */
const maxTurnMs = 3_600_000;

/** Runs occasional work, one piece at a time across all nodes. A piece that does not end within an hour is left. */
export class LeaseMutex {
  readonly #options: Omit<OnceOnOneNodeOptions, 'signal'>;
  readonly #stopping = new AbortController();
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: Omit<OnceOnOneNodeOptions, 'signal'>) {
    this.#options = { ...options, ended: { token: 0 } };
  }

  /** @throws UnavailableError if another node works for too long, if this one stops, or if the work is left */
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
    const { signal: stopping } = this.#stopping;
    if (stopping.aborted) throw new UnavailableError('The service is stopping.');
    const late = new AbortController();
    const timer = clock.setTimeout(() => late.abort(), maxTurnMs).unref();
    try {
      return await onceOnOneNode({ ...this.#options, signal: AbortSignal.any([stopping, late.signal]) }, work);
    } finally {
      clock.clearTimeout(timer);
    }
  }
}
