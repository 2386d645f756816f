import { clock } from '#shared/clock.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { PortHandle } from './port-handle.ts';
import { withTimeout } from './timed-waits.ts';

/** Guards a port for one turn alone: every call through the returned port throws when the turn is over. */
export type GuardPort = <Port extends object>(port: Port) => Port;

const left = Symbol('left');

/**
 * Runs pieces of work one after the other. A piece that takes longer than a limit is left, so that it does not block
 * the later ones. From then on its calls through guarded ports throw `UnavailableError`, also one that runs.
 */
export class SerialTurns {
  readonly #what: string;
  readonly #limitMs: number;
  #last: Promise<unknown> = Promise.resolve();

  /** @param what the work, as the beginning of a sentence */
  constructor(what: string, limitMs: number) {
    this.#what = what;
    this.#limitMs = limitMs;
  }

  /** Runs a piece when its turn comes. @throws UnavailableError if it is left; what the work throws */
  run<Result>(work: (guard: GuardPort) => Promise<Result>): Promise<Result> {
    const turn = this.#last.then(() => this.#limited(work));
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  async #limited<Result>(work: (guard: GuardPort) => Promise<Result>): Promise<Result> {
    const refusal = () =>
      new UnavailableError(`${this.#what} took longer than ${this.#limitMs / 1_000} s and was left.`);
    const handle = new PortHandle(refusal);
    try {
      const result = await withTimeout(
        this.#limitMs,
        work((port) => handle.guard(port)),
        left,
      );
      if (result !== left) return result;
      handle.abandon();
      // Work that waits for a port ends now, before the next piece begins.
      await clock.nextTurn();
      throw refusal();
    } finally {
      handle.close();
    }
  }
}
