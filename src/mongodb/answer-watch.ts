import { clock } from '#shared/clock.ts';

/** Without an answer to any call for this multiple of their time limit, a client may be dead. */
const silentLimits = 2;

/** A client that the driver has closed is replaced when it is this old: the next one may fare no better. */
const leastLifeMs = 1_000;

/** Knows since when the server answers nothing that a client sends. */
export class AnswerWatch {
  /** When the first call began after the last answer; null without one. */
  #unansweredSince: number | null = null;
  #answeredAt = Number.NEGATIVE_INFINITY;
  readonly #beganAt = clock.now();
  #isClosed = false;

  /** A call begins. */
  asked(): void {
    this.#unansweredSince ??= clock.now();
  }

  /** The server has answered a message, perhaps one of a handshake. */
  answered(): void {
    this.#unansweredSince = null;
    this.#answeredAt = clock.now();
  }

  /** The driver has closed the client for good. */
  closed(): void {
    this.#isClosed = true;
  }

  /** @param limitMs the time limit of a call */
  isSilent(limitMs: number): boolean {
    if (this.#isClosed) return clock.now() - this.#beganAt >= leastLifeMs;
    return this.#unansweredSince !== null && clock.now() - this.#unansweredSince >= silentLimits * limitMs;
  }

  /** Whether a message was answered at this moment or later. */
  hasAnsweredSince(moment: number): boolean {
    return this.#answeredAt >= moment;
  }
}
