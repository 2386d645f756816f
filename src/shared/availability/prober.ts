import { setImmediate as nextTurn } from 'node:timers/promises';

/** A probe's answer that takes longer is of no use. */
const maxProbeMs = 3_000;

/** A probe may take so many times what the last answered one took. */
const slownessFactor = 2;

/** A process that sees the end of a probe's time so much later was not running itself: the probe says nothing. */
const stallMs = 250;

/** Turns of the event loop that an answer which has come may need until it is seen: one costs nothing when all is quiet. */
const answerTurns = 20;

/** What time it is, and how to wait. */
export interface ProbeClock {
  /** Milliseconds since some moment. */
  readonly now: () => number;
  /** Waits, for less when the signal aborts. */
  readonly pause: (milliseconds: number, signal: AbortSignal) => Promise<void>;
}

export interface ProberOptions {
  /** Asks the server for as little as there is; gives up when the time is over. @throws the call's failure */
  readonly probe: (timeoutMs: number) => Promise<unknown>;
  /** Whether a failure is the server's own answer. */
  readonly isAnswer: (failure: unknown) => boolean;
  /** What a probe that took too long has failed with. */
  readonly timedOut: (waitedMs: number) => Error;
  /** How long a probe may take at least. */
  readonly probeTimeoutMs: number;
  readonly clock: ProbeClock;
  /** Ends a wait for an answer. */
  readonly signal: AbortSignal;
}

/** What a probe found. */
export type ProbeResult =
  | { readonly kind: 'answered'; readonly tookMs: number }
  /** An earlier probe, which had counted as failed, was answered: the server is up, or was when it answered. */
  | { readonly kind: 'answered late' }
  | { readonly kind: 'failed'; readonly failure: unknown; readonly isOwnStall: boolean };

/**
 * Probes a server. A probe without an answer in time counts as failed; when its answer comes later all the same, the
 * next probe gets more time. So a server that is slow, but up, is not taken for one that is away for ever.
 */
export class Prober {
  readonly #options: ProberOptions;
  #timeoutMs: number;
  /** Aborts at the first answer to a probe since it was made. */
  #answered = new AbortController();

  constructor(options: ProberOptions) {
    this.#options = options;
    this.#timeoutMs = options.probeTimeoutMs;
  }

  /** Waits, and no longer once a probe that counted as failed is answered. */
  async pause(milliseconds: number): Promise<void> {
    const { clock, signal } = this.#options;
    await clock.pause(milliseconds, AbortSignal.any([signal, this.#answered.signal]));
  }

  /** Probes once, unless an answer to an earlier probe has come meanwhile. Never throws. */
  async ask(): Promise<ProbeResult> {
    if (this.#answered.signal.aborted) return this.#answeredLate();
    const { clock, timedOut, signal } = this.#options;
    const began = clock.now();
    const timeoutMs = this.#timeoutMs;
    const { outcome, ended } = this.#send();
    await clock.pause(timeoutMs, AbortSignal.any([signal, ended, this.#answered.signal]));
    // A busy process may see that the time is up before it sees the answer that has come.
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

  /** How long the answer took says nothing when the server was frozen, so the next probe finds out. */
  #answeredLate(): ProbeResult {
    this.#expect(maxProbeMs);
    return { kind: 'answered late' };
  }

  /** Gives the next probe so much time, and expects no answers to earlier ones any more. */
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
