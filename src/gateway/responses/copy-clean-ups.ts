import type { Gateway } from '#gateway/gateway.ts';
import type { CopyName } from '#responses/provider-copies.ts';
import { FairSlots } from '#shared/async/fair-queue.ts';
import { deleteCopy, dropCopy } from './provider-copy.ts';

/** A copy that nobody needs is deleted soon, or else by the retention of copies, which has it in its list. */
const queue = { maxSlots: 8, maxSlotsOfOwner: 4, maxWaiting: 1_000, maxWaitingOfOwner: 100, maxWaitMs: 60_000 };

/**
 * Deletes the copies of responses at providers after the calls that need them no more have ended, so that no call waits
 * for a provider when its client has the answer.
 */
export class CopyCleanUps {
  readonly #gateway: Gateway;
  readonly #slots = new FairSlots(queue);
  readonly #running = new Set<Promise<void>>();
  readonly #closed = new AbortController();

  constructor(gateway: Gateway) {
    this.#gateway = gateway;
  }

  /**
   * Deletes a copy later.
   * @param isFinished whether the provider has finished it; another one is cancelled first
   */
  add(copy: CopyName, isFinished: boolean): void {
    if (this.#closed.signal.aborted) return;
    const running = this.#delete(copy, isFinished).finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  /** Ends what is running. The retention of copies does the rest. */
  async close(): Promise<void> {
    this.#closed.abort();
    await Promise.all(this.#running);
  }

  async #delete(copy: CopyName, isFinished: boolean): Promise<void> {
    const leave = await this.#slots.enter(copy.projectId);
    if (typeof leave === 'string') return;
    const gateway = this.#gateway;
    const configuration = gateway.acquireConfiguration();
    const access = { gateway, configuration, answerHold: { takeBegun: () => true } };
    const { signal } = this.#closed;
    try {
      if (signal.aborted) return;
      if (isFinished) await deleteCopy(access, copy, { signal });
      else await dropCopy(access, copy, { signal });
    } catch (error) {
      gateway.log.warn({ error: String(error) }, 'The copy of a response at its provider was not deleted');
    } finally {
      gateway.releaseConfiguration(configuration);
      leave();
    }
  }
}
