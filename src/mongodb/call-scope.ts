import { AsyncLocalStorage } from 'node:async_hooks';

const scopes = new AsyncLocalStorage<CallScope>();

/** A connection is closed when one command has no answer for this multiple of its call's time limit. */
const silenceFactor = 3;

/**
 * The call for which a connection works. The driver cannot cancel work: what still waits for a connection when the call
 * is over would be sent later, perhaps after newer writes.
 */
export class CallScope {
  readonly limitMs: number;
  #isOver = false;

  constructor(limitMs: number) {
    this.limitMs = limitMs;
  }

  static get current(): CallScope | undefined {
    return scopes.getStore();
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** How long one of its commands may have no answer. The caller has its error earlier; a late answer saves the connection. */
  get maxSilenceMs(): number {
    return this.limitMs * silenceFactor;
  }

  run<Result>(work: () => Result): Result {
    return scopes.run(this, work);
  }

  end(): void {
    this.#isOver = true;
  }
}
