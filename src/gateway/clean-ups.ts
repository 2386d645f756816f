import * as E from 'fp-ts/lib/Either.js';
import type { Admission } from '#exchange/admission.ts';
import { Held } from '#exchange/held.ts';

/** Cleans up. It must end soon after the signal aborts, and must not throw. */
type CleanUp = (signal: AbortSignal) => Promise<void>;

/** Cleans up later, so that no call waits for a provider when its client has the answer. */
export class CleanUps {
  readonly #admission: Pick<Admission, 'slot'>;
  readonly #running = new Set<Promise<void>>();
  readonly #closed = new AbortController();

  constructor(admission: Pick<Admission, 'slot'>) {
    this.#admission = admission;
  }

  /**
   * Adds work for the turn of its owner; it is dropped if too many others wait.
   * @param owner the project of the call
   */
  add(owner: string, cleanUp: CleanUp): void {
    const running = this.#run(owner, cleanUp).finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  /** Aborts what is running. */
  async close(): Promise<void> {
    this.#closed.abort();
    await Promise.all(this.#running);
  }

  async #run(owner: string, cleanUp: CleanUp): Promise<void> {
    const kept = new Held(owner).keep('provider copy');
    try {
      const slot = await this.#admission.slot(kept, 'clean-up');
      if (E.isRight(slot) && !this.#closed.signal.aborted) await cleanUp(this.#closed.signal);
    } finally {
      kept.release();
    }
  }
}
