import { FairSlots } from '#shared/async/fair-queue.ts';

const queue = { maxSlots: 8, maxSlotsOfOwner: 4, maxWaiting: 1_000, maxWaitingOfOwner: 100, maxWaitMs: 60_000 };

/** What is done after a call. It must end soon after the signal aborts, and must not throw. */
type CleanUp = (signal: AbortSignal) => Promise<void>;

/** Cleans up after calls, so that no call waits for a provider when its client has the answer. */
export class CleanUps {
  readonly #slots = new FairSlots(queue);
  readonly #running = new Set<Promise<void>>();
  readonly #closed = new AbortController();

  /**
   * Cleans up when it is the owner's turn; not at all if too many others wait.
   * @param owner the project of the call
   */
  add(owner: string, cleanUp: CleanUp): void {
    const running = this.#run(owner, cleanUp).finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  /** Ends what is running. */
  async close(): Promise<void> {
    this.#closed.abort();
    await Promise.all(this.#running);
  }

  async #run(owner: string, cleanUp: CleanUp): Promise<void> {
    const leave = await this.#slots.enter(owner);
    if (typeof leave === 'string') return;
    try {
      if (!this.#closed.signal.aborted) await cleanUp(this.#closed.signal);
    } finally {
      leave();
    }
  }
}
