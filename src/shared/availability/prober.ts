import { delay } from '#shared/async/timed-waits.ts';
import { clock } from '#shared/clock.ts';

/** Time between the starts of two probes of a server that does not answer. */
export const probeEveryMs = 500;

/** The time limit of a probe, and the maximum silence of a server that has a shorter limit for silence. */
const longestProbeMs = 5_000;

/** The silence after which a server counts as unavailable that has not answered yet. It may be slow. */
const unmeasuredMs = 3_000;

/**
 * The silence after which a server counts as unavailable, as a multiple of its response time. A new connection has two
 * messages before the first answer that is seen.
 */
const slownessFactor = 3;

/** The next probe is sent after this multiple of the response time, so that a slow server has one at a time. */
const probeFactor = 1.5;

/** The weight of the response time after a quicker answer: a single quick answer does not make a server quick. */
const decay = 0.8;

/**
 * Silence is counted in small steps, each with its nominal length, because a process that does not run receives no
 * answers. If a step takes longer by the time of a stall, another probe is sent.
 */
const stepMs = 100;
const stallMs = 250;

export interface ProberOptions {
  /** Sends the smallest request to the server, and gives up after the time limit. @throws the call's failure */
  readonly probe: (timeoutMs: number) => Promise<unknown>;
  readonly isAnswer: (failure: unknown) => boolean;
  /** True if no answer came in time. */
  readonly isSilence: (failure: unknown) => boolean;
  /** Minimum silence after which a server counts as unavailable. */
  readonly silentAfterMs: number;
  readonly signal: AbortSignal;
}

export type ProbeResult =
  | { readonly kind: 'answered'; readonly tookMs: number }
  /** A probe was answered after the server counted as unavailable. The next answer shows how slow the server is. */
  | { readonly kind: 'answered late' }
  | { readonly kind: 'failed'; readonly failure: unknown }
  /** The probe has no answer, which may still come. */
  | { readonly kind: 'silent'; readonly forMs: number };

/** The probes whose answers count: a later one is of another round. */
interface Round {
  readonly beganAt: number;
  /**
   * The silence that counts as an outage. An answer that takes longer shows that the server has recovered, and not how
   * slow it is: it may have been suspended.
   */
  readonly silentAfterMs: number;
  /** The time until the answer to one of the probes; null without one. */
  tookMs: number | null;
  readonly answered: AbortController;
}

/**
 * Probes a server, and learns from its answers how long it may be silent. Each probe waits long for its answer, and the
 * next one is sent meanwhile, because it may go another way.
 */
export class Prober {
  readonly #options: ProberOptions;
  #round: Round;
  /** The measured response time; null before the server's first answer. */
  #responseMs: number | null = null;

  constructor(options: ProberOptions) {
    this.#options = options;
    this.#round = this.#newRound();
  }

  /** After this silence the server counts as unavailable. */
  get silentAfterMs(): number {
    const measuredMs = this.#responseMs === null ? unmeasuredMs : this.#responseMs * slownessFactor;
    return Math.max(this.#options.silentAfterMs, Math.min(measuredMs, longestProbeMs));
  }

  /** Learns from an answer. Requests that are not the smallest show only that the server is quick. */
  learn(tookMs: number, isSmall: boolean): void {
    const known = this.#responseMs;
    if (!isSmall && (known === null || tookMs > known)) return;
    this.#responseMs = Math.max(Math.min(tookMs, longestProbeMs), (known ?? 0) * decay);
  }

  /** Counts an answer as one to a probe, if the request was sent in this round. */
  heard(tookMs: number): void {
    if (clock.now() - tookMs < this.#round.beganAt) return;
    this.#round.tookMs ??= tookMs;
    this.#round.answered.abort();
  }

  /** Begins a round, which ignores answers to earlier requests. */
  begin(): void {
    this.#round = this.#newRound();
  }

  /** Waits, but less when a probe is answered. */
  async pause(milliseconds: number): Promise<void> {
    const { signal } = this.#options;
    await delay(milliseconds, AbortSignal.any([signal, this.#round.answered.signal]));
  }

  /** Sends a probe, and waits for its answer or that of an earlier one until the next is due. Never throws. */
  async ask(): Promise<ProbeResult> {
    const { signal } = this.#options;
    const probe = this.#send();
    const isOpen = () => this.#round.tookMs === null && probe.failure === null && !signal.aborted;
    let forMs = 0;
    for (let isStall = false; isOpen() && !isStall && forMs < this.#probeEveryMs; forMs += stepMs)
      isStall = await this.#waitOneStep(probe.ended.signal);
    const { tookMs } = this.#round;
    if (tookMs !== null) return this.#answered(tookMs);
    return probe.failure === null ? { kind: 'silent', forMs } : { kind: 'failed', failure: probe.failure.error };
  }

  get #probeEveryMs(): number {
    return Math.max(probeEveryMs, Math.min((this.#responseMs ?? 0) * probeFactor, longestProbeMs / 2));
  }

  #newRound(): Round {
    return { beganAt: clock.now(), silentAfterMs: this.silentAfterMs, tookMs: null, answered: new AbortController() };
  }

  #answered(tookMs: number): ProbeResult {
    const isLate = tookMs > this.#round.silentAfterMs;
    this.begin();
    return isLate ? { kind: 'answered late' } : { kind: 'answered', tookMs };
  }

  /** @returns whether it took so long that the process itself did not run */
  async #waitOneStep(ended: AbortSignal): Promise<boolean> {
    const { signal } = this.#options;
    const began = clock.now();
    await delay(stepMs, AbortSignal.any([signal, ended, this.#round.answered.signal]));
    return clock.now() - began > stepMs + stallMs;
  }

  #send(): SentProbe {
    const { probe, isAnswer, isSilence, silentAfterMs } = this.#options;
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
  /** Aborts when the probe has failed. */
  readonly ended: AbortController;
}
