import { clock } from '#shared/clock.ts';

/** When a call began this multiple of its time limit ago, and nothing was answered since, a client may be dead. */
const silentLimits = 2;

/** A client that the driver has closed is replaced when it is this old: the next one may fare no better. */
const leastLifeMs = 1_000;

/** Measures for how long the server has answered nothing that a client sends. */
export class AnswerWatch {
  /** When one of the calls after the last answer has had none for too long; null without a call. */
  #silentAt: number | null = null;
  #answeredAt = Number.NEGATIVE_INFINITY;
  readonly #beganAt = clock.now();
  #isClosed = false;

  /** Notes a call. @param limitMs its time limit, which may be longer because earlier calls had no answer */
  asked(limitMs: number): void {
    this.#silentAt = Math.min(this.#silentAt ?? Number.POSITIVE_INFINITY, clock.now() + silentLimits * limitMs);
  }

  /** Notes an answer, also to a message of a handshake. */
  answered(): void {
    this.#silentAt = null;
    this.#answeredAt = clock.now();
  }

  /** Notes that the driver has closed the client permanently. */
  closed(): void {
    this.#isClosed = true;
  }

  get isSilent(): boolean {
    if (this.#isClosed) return clock.now() - this.#beganAt >= leastLifeMs;
    return this.#silentAt !== null && clock.now() >= this.#silentAt;
  }

  hasAnsweredSince(moment: number): boolean {
    return this.#answeredAt >= moment;
  }
}
