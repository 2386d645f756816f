import type { OpenMessage } from '#webhooks/state/delivery-state.ts';

export interface MessageChanges {
  readonly open: ReadonlyArray<OpenMessage>;
  /** Positions of messages that may be stored and are no longer open. */
  readonly closed: ReadonlyArray<number>;
}

export class OpenMessages {
  readonly #open: Map<number, OpenMessage>;
  /** Positions of messages in a running try, and whether it is a retry. */
  readonly #inFlight = new Map<number, boolean>();
  /** Positions of messages that may be stored. */
  readonly #stored: Set<number>;
  /** Positions of messages that have changed since they were taken to be stored. */
  readonly #changed = new Set<number>();
  readonly #tests = new Set<number>();
  #failed = 0;

  constructor(messages: ReadonlyArray<OpenMessage>) {
    this.#open = new Map(messages.map((message) => [message.position, message]));
    this.#stored = new Set(this.#open.keys());
    for (const message of messages) {
      if (hasFailed(message)) this.#failed += 1;
      if (message.isTest) this.#tests.add(message.position);
    }
  }

  get size(): number {
    return this.#open.size;
  }

  get failed(): number {
    return this.#failed;
  }

  get list(): ReadonlyArray<OpenMessage> {
    return [...this.#open.values()];
  }

  get inFlight(): number {
    return this.#inFlight.size;
  }

  get retriesInFlight(): number {
    let retries = 0;
    for (const isRetry of this.#inFlight.values()) if (isRetry) retries += 1;
    return retries;
  }

  get waitingTests(): number {
    let waiting = 0;
    for (const position of this.#tests) if (!this.#inFlight.has(position)) waiting += 1;
    return waiting;
  }

  has(position: number): boolean {
    return this.#open.has(position);
  }

  get(position: number): OpenMessage | undefined {
    return this.#open.get(position);
  }

  /** Replaces the message at the same position. */
  keep(message: OpenMessage): void {
    const before = this.#open.get(message.position);
    if (before === message) return;
    this.#open.set(message.position, message);
    this.#changed.add(message.position);
    if (message.isTest) this.#tests.add(message.position);
    this.#failed += Number(hasFailed(message)) - Number(hasFailed(before));
  }

  delete(position: number): void {
    const before = this.#open.get(position);
    if (before === undefined) return;
    this.#open.delete(position);
    this.#tests.delete(position);
    this.#changed.add(position);
    this.#failed -= Number(hasFailed(before));
  }

  /** The caller stores it, or calls `storeAgain`. */
  takeChanges(): MessageChanges {
    const open: OpenMessage[] = [];
    const closed: number[] = [];
    for (const position of this.#changed) {
      const message = this.#open.get(position);
      if (message !== undefined) open.push(message);
      else if (this.#stored.has(position)) closed.push(position);
    }
    this.#changed.clear();
    for (const { position } of open) this.#stored.add(position);
    for (const position of closed) this.#stored.delete(position);
    return { open, closed };
  }

  /**
   * Takes back changes that could not be stored: the next `takeChanges` returns them again. Some of them may be stored.
   */
  storeAgain({ open, closed }: MessageChanges): void {
    for (const { position } of open) this.#changed.add(position);
    for (const position of closed) {
      this.#changed.add(position);
      this.#stored.add(position);
    }
  }

  /** Deletes messages after a position, except those in a running try. */
  deleteAfter(after: number): void {
    for (const position of [...this.#open.keys()]) {
      if (position > after && !this.#inFlight.has(position)) this.delete(position);
    }
  }

  beginTry(message: OpenMessage, isRetry: boolean): void {
    this.keep(message);
    this.#inFlight.set(message.position, isRetry);
  }

  endTry(position: number): void {
    this.#inFlight.delete(position);
  }

  /** Ignores messages in a running try. */
  earliest(fits: (message: OpenMessage) => boolean = () => true): OpenMessage | null {
    let earliest: OpenMessage | null = null;
    for (const message of this.#open.values()) {
      if (this.#inFlight.has(message.position) || !fits(message)) continue;
      if (earliest === null || message.dueAt < earliest.dueAt) earliest = message;
    }
    return earliest;
  }
}

function hasFailed(message: OpenMessage | undefined): boolean {
  return message !== undefined && message.attempts > 0;
}
