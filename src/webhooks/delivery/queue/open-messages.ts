import type { OpenMessage } from '#webhooks/state/delivery-state.ts';

/** The open messages to one endpoint, and their tries that run now. */
export class OpenMessages {
  readonly #open: Map<number, OpenMessage>;
  readonly #inFlight = new Map<number, { readonly isRetry: boolean; readonly isTest: boolean }>();

  constructor(messages: ReadonlyArray<OpenMessage>) {
    this.#open = new Map(messages.map((message) => [message.position, message]));
  }

  get size(): number {
    return this.#open.size;
  }

  /** The number of messages with a failed try. */
  get failed(): number {
    let failed = 0;
    for (const { attempts } of this.#open.values()) if (attempts > 0) failed += 1;
    return failed;
  }

  get list(): ReadonlyArray<OpenMessage> {
    return [...this.#open.values()];
  }

  /** The number of tries that run now, tests included. */
  get inFlight(): number {
    return this.#inFlight.size;
  }

  has(position: number): boolean {
    return this.#open.has(position);
  }

  get(position: number): OpenMessage | undefined {
    return this.#open.get(position);
  }

  /** Adds a message, or replaces the one at its position. */
  keep(message: OpenMessage): void {
    this.#open.set(message.position, message);
  }

  delete(position: number): void {
    this.#open.delete(position);
  }

  /** Deletes the messages after a position, except those in a running try. */
  deleteAfter(after: number): void {
    for (const position of [...this.#open.keys()]) {
      if (position > after && !this.#inFlight.has(position)) this.#open.delete(position);
    }
  }

  beginTry(message: OpenMessage, isRetry: boolean): void {
    this.keep(message);
    this.#inFlight.set(message.position, { isRetry, isTest: message.isTest });
  }

  endTry(position: number): void {
    this.#inFlight.delete(position);
  }

  /** Counts the running tries that are not tests, and the retries among them. */
  countTries(): { readonly tries: number; readonly retries: number } {
    const tries = [...this.#inFlight.values()].filter(({ isTest }) => !isTest);
    return { tries: tries.length, retries: tries.filter(({ isRetry }) => isRetry).length };
  }

  /** Returns the message that is due first; null if there is none. Ignores messages in a running try. */
  earliest(fits: (message: OpenMessage) => boolean = () => true): OpenMessage | null {
    let earliest: OpenMessage | null = null;
    for (const message of this.#open.values()) {
      if (this.#inFlight.has(message.position) || !fits(message)) continue;
      if (earliest === null || message.dueAt < earliest.dueAt) earliest = message;
    }
    return earliest;
  }
}
