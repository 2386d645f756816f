/** The time between the starts of two probes of a server that does not answer. */
export const probeEveryMs = 500;

/** The longest time limit of a probe of a server with a shorter one. */
const longestProbeMs = 3_000;

/** The silence after which a server counts as unavailable, as a multiple of the time of the last answered probe. */
const slownessFactor = 2;

/**
 * Silence is counted in small steps, each with its nominal length, because a process that does not run receives no
 * answers. If a step takes longer by the time of a stall, another probe is sent.
 */
const stepMs = 100;
const stallMs = 250;

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
  /** Whether a failure says only that no answer came in time. */
  readonly isSilence: (failure: unknown) => boolean;
  /** The shortest silence after which a server counts as unavailable. */
  readonly silentAfterMs: number;
  readonly clock: ProbeClock;
  /** Ends every wait for an answer. */
  readonly signal: AbortSignal;
}

/** What a probe has shown. */
export type ProbeResult =
  | { readonly kind: 'answered'; readonly tookMs: number }
  /** A probe was answered after the server counted as unavailable. The next answer shows how slow the server is. */
  | { readonly kind: 'answered late' }
  | { readonly kind: 'failed'; readonly failure: unknown }
  /** No answer so far. It may still come. */
  | { readonly kind: 'silent'; readonly forMs: number };

/** The probes whose answers count: a later one is of another round. */
interface Round {
  /** The time of the first answer to one of them; null without one. */
  tookMs: number | null;
  readonly answered: AbortController;
}

/**
 * Probes a server, and learns from the answers how long it may be silent. Each probe waits long for its answer, and the
 * next one is sent meanwhile, because it may go another way.
 */
export class Prober {
  readonly #options: ProberOptions;
  #round = newRound();
  #silentAfterMs: number;

  constructor(options: ProberOptions) {
    this.#options = options;
    this.#silentAfterMs = options.silentAfterMs;
  }

  /** The silence after which the server counts as unavailable. */
  get silentAfterMs(): number {
    return this.#silentAfterMs;
  }

  /** Ignores answers to earlier probes. */
  begin(): void {
    this.#round = newRound();
  }

  /** Waits some milliseconds, or until a probe is answered. */
  async pause(milliseconds: number): Promise<void> {
    const { clock, signal } = this.#options;
    await clock.pause(milliseconds, AbortSignal.any([signal, this.#round.answered.signal]));
  }

  /** Sends a probe, and waits for its answer or that of an earlier one until the next is due. Never throws. */
  async ask(): Promise<ProbeResult> {
    const { signal } = this.#options;
    const probe = this.#send();
    const isOpen = () => this.#round.tookMs === null && probe.failure === null && !signal.aborted;
    let forMs = 0;
    for (let isStall = false; isOpen() && !isStall && forMs < probeEveryMs; forMs += stepMs)
      isStall = await this.#waitOneStep(probe.ended.signal);
    const { tookMs } = this.#round;
    if (tookMs !== null) return this.#learn(tookMs);
    return probe.failure === null ? { kind: 'silent', forMs } : { kind: 'failed', failure: probe.failure.error };
  }

  #learn(tookMs: number): ProbeResult {
    const isLate = tookMs > this.#silentAfterMs;
    const silentAfterMs = isLate ? longestProbeMs : tookMs * slownessFactor;
    this.#silentAfterMs = Math.max(this.#options.silentAfterMs, Math.min(silentAfterMs, longestProbeMs));
    this.begin();
    return isLate ? { kind: 'answered late' } : { kind: 'answered', tookMs };
  }

  /** @returns whether it took so long that the process itself did not run */
  async #waitOneStep(ended: AbortSignal): Promise<boolean> {
    const { clock, signal } = this.#options;
    const began = clock.now();
    await clock.pause(stepMs, AbortSignal.any([signal, ended, this.#round.answered.signal]));
    return clock.now() - began > stepMs + stallMs;
  }

  #send(): SentProbe {
    const { probe, isAnswer, isSilence, silentAfterMs, clock } = this.#options;
    const round = this.#round;
    const began = clock.now();
    const sent: SentProbe = { failure: null, ended: new AbortController() };
    const answered = () => {
      round.tookMs ??= clock.now() - began;
      round.answered.abort();
    };
    probe(Math.max(silentAfterMs, longestProbeMs)).then(answered, (error: unknown) => {
      if (isAnswer(error)) return answered();
      if (isSilence(error)) return;
      sent.failure = { error };
      sent.ended.abort();
    });
    return sent;
  }
}

interface SentProbe {
  failure: { readonly error: unknown } | null;
  /** Aborts when it has failed. */
  readonly ended: AbortController;
}

function newRound(): Round {
  return { tookMs: null, answered: new AbortController() };
}
