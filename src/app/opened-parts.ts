import { withTimeout } from '#shared/async/timed-waits.ts';
import { clock } from '#shared/clock.ts';

/** Maximum time to stop everything of a node. */
const maxStopMs = 5_000;
/** The part of this time for closing the stores, which write what is pending. */
const closingMs = 1_000;

/** A part that holds in memory for some time what callers believe to be stored. */
export interface WriteBuffer {
  readonly flush: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/**
 * Everything of a node that must be stopped and closed: the work that it does by itself, and below it the parts that the
 * work uses. It waits for nothing that does not end.
 */
export class OpenedParts extends AsyncDisposableStack {
  readonly #work = new Map<string, () => Promise<void>>();
  readonly #closing: Promise<void>[] = [];
  #until = 0;

  /** Adds work that the node does by itself. @param stop ends it, and waits for its end; never rejects */
  addWork(name: string, stop: () => Promise<void>): void {
    this.#work.set(name, async () => stop());
  }

  /**
   * Adds a part that stores its content while the work stops: a slow store would not take it in the short time after
   * work that does not end. Its close stores what the work has added meanwhile.
   */
  addBuffer(name: string, buffer: WriteBuffer): void {
    this.addWork(name, () => buffer.flush());
    this.defer(() => buffer.close());
  }

  override defer(close: () => PromiseLike<void> | void): void {
    super.defer(() => this.#closePart(async () => close()));
  }

  /**
   * Stops all work at the same time, and then closes the parts in the reverse order of opening. That takes 5 s at most.
   * A part that has not closed in half of the time that is left continues while the next ones close.
   * @param limitMs a shorter limit
   * @returns the names of what has not ended in time and is left
   */
  async close(limitMs = maxStopMs): Promise<ReadonlyArray<string>> {
    this.#until = clock.now() + Math.min(limitMs, maxStopMs);
    const left = await this.#stopWork(this.#until - closingMs - clock.now());
    const closed = super.disposeAsync().then(() => Promise.allSettled(this.#closing));
    const results = await withTimeout(this.#until - clock.now(), closed, null);
    return results === null ? [...left, 'stores'] : left;
  }

  override async disposeAsync(): Promise<void> {
    await this.close();
  }

  override [Symbol.asyncDispose](): Promise<void> {
    return this.disposeAsync();
  }

  async #closePart(close: () => Promise<void>): Promise<void> {
    const closing = close();
    this.#closing.push(closing);
    await withTimeout((this.#until - clock.now()) / 2, closing, undefined);
  }

  async #stopWork(limitMs: number): Promise<ReadonlyArray<string>> {
    const left = new Set(this.#work.keys());
    const stopping = [...this.#work].map(([name, stop]) => stop().finally(() => left.delete(name)));
    await withTimeout(limitMs, Promise.allSettled(stopping), undefined);
    return [...left];
  }
}
