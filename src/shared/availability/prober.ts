import { setImmediate as nextTurn } from 'node:timers/promises';

/** The longest time limit of a probe. A server that needs longer cannot be used. */
const maxProbeMs = 3_000;

/** The time limit of a probe, as a multiple of the time of the last answered one. */
const slownessFactor = 2;

/** If the process sees the end of a probe's time later than this, it was suspended itself, and the probe has no result. */
const stallMs = 250;

/** The turns of the event loop until a received answer is seen. A turn costs nothing in an idle process. */
const answerTurns = 20;

/** A clock: the time, and a way to wait. */
export interface ProbeClock {
  /** Milliseconds since a fixed moment. */
  readonly now: () => number;
  /** Waits some milliseconds, or until the signal aborts. */
  readonly pause: (milliseconds: number, signal: AbortSignal) => Promise<void>;
}

export interface ProberOptions {
  /** Sends the smallest request to the server, and gives up after the time limit. @throws the call's failure */
  readonly probe: (timeoutMs: number) => Promise<unknown>;
  /** Whether a failure is an answer of the server. */
  readonly isAnswer: (failure: unknown) => boolean;
  /** Returns the error of a probe that took too long. */
  readonly timedOut: (waitedMs: number) => Error;
  /** The shortest time limit of a probe. */
  readonly probeTimeoutMs: number;
  readonly clock: ProbeClock;
  /** Ends every wait for an answer. */
  readonly signal: AbortSignal;
}

/** The result of a probe. */
export type ProbeResult =
  | { readonly kind: 'answered'; readonly tookMs: number }
  /** The server answered an earlier probe that counted as failed. So it was up when it answered. */
  | { readonly kind: 'answered late' }
  | { readonly kind: 'failed'; readonly failure: unknown; readonly isOwnStall: boolean };

/**
 * Probes a server. A probe without an answer in time counts as failed. If its answer arrives later, the next probe
 * gets more time. So a slow server does not stay unavailable.
 */
export class Prober {
  readonly #options: ProberOptions;
  #timeoutMs: number;
  /** Aborts at the first answer to a probe after this controller was created. */
  #answered = new AbortController();

  constructor(options: ProberOptions) {
    this.#options = options;
    this.#timeoutMs = options.probeTimeoutMs;
  }

  /** Waits some milliseconds, or until a failed probe is answered late. */
  async pause(milliseconds: number): Promise<void> {
    const { clock, signal } = this.#options;
    await clock.pause(milliseconds, AbortSignal.any([signal, this.#answered.signal]));
  }

  /** Probes once, unless the answer to an earlier probe has arrived meanwhile. Never throws. */
  async ask(): Promise<ProbeResult> {
    if (this.#answered.signal.aborted) return this.#answeredLate();
    const { clock, timedOut, signal } = this.#options;
    const began = clock.now();
    const timeoutMs = this.#timeoutMs;
    const { outcome, ended } = this.#send();
    await clock.pause(timeoutMs, AbortSignal.any([signal, ended, this.#answered.signal]));
    // A busy process may notice the time limit before it sees an answer that has already arrived.
    for (let turns = 0; outcome.is === 'open' && turns < answerTurns; turns += 1) await nextTurn();
    const tookMs = clock.now() - began;
    if (outcome.is === 'answered') {
      this.#expect(tookMs * slownessFactor);
      return { kind: 'answered', tookMs };
    }
    if (this.#answered.signal.aborted) return this.#answeredLate();
    this.#timeoutMs = this.#options.probeTimeoutMs;
    const failure = outcome.is === 'failed' ? outcome.failure : timedOut(timeoutMs);
    return { kind: 'failed', failure, isOwnStall: tookMs > timeoutMs + stallMs };
  }

  /** The time of this answer means nothing if the server was frozen, so the next probe measures it. */
  #answeredLate(): ProbeResult {
    this.#expect(maxProbeMs);
    return { kind: 'answered late' };
  }

  /** Sets the time limit of the next probe, and ignores answers to earlier ones. */
  #expect(timeoutMs: number): void {
    this.#timeoutMs = Math.min(maxProbeMs, Math.max(this.#options.probeTimeoutMs, timeoutMs));
    this.#answered = new AbortController();
  }

  #send(): { readonly outcome: ProbeOutcome; readonly ended: AbortSignal } {
    const { probe, isAnswer } = this.#options;
    const answered = this.#answered;
    const outcome: ProbeOutcome = { is: 'open', failure: undefined };
    const ending = new AbortController();
    const end = (is: 'answered' | 'failed', failure: unknown) => {
      Object.assign(outcome, { is, failure });
      ending.abort();
      if (is === 'answered') answered.abort();
    };
    probe(maxProbeMs).then(
      () => end('answered', undefined),
      (failure: unknown) => end(isAnswer(failure) ? 'answered' : 'failed', failure),
    );
    return { outcome, ended: ending.signal };
  }
}

interface ProbeOutcome {
  is: 'open' | 'answered' | 'failed';
  failure: unknown;
}
