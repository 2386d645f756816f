import type { EventStore } from '#event-store/event-store.ts';

/**
 * Up to which position the log has what a process has written, in this term or an earlier one. A reaction that looks
 * for it in a read model waits until the read model is past that.
 */
export class OwnWrites {
  readonly #store: Pick<EventStore, 'lastPosition'>;
  #upTo: number;
  /** How often it has found its work done, and how many of these times are known to be before `#upTo`. */
  #found = 0;
  #covered = 0;

  /** @param upTo the end of the log when the term began, or the last append that is known */
  constructor(store: Pick<EventStore, 'lastPosition'>, upTo: number) {
    this.#store = store;
    this.#upTo = upTo;
  }

  appended(position: number): void {
    this.#upTo = Math.max(this.#upTo, position);
  }

  /**
   * The process has decided on a stream, and had nothing to append. An append of an earlier term may have done the work
   * although it was stored after this term began, or one of this term whose answer was lost.
   */
  found(): void {
    this.#found += 1;
  }

  /** @throws UnavailableError */
  async upTo(): Promise<number> {
    const found = this.#found;
    if (this.#covered < found) {
      this.appended(await this.#store.lastPosition());
      this.#covered = Math.max(this.#covered, found);
    }
    return this.#upTo;
  }
}
