import { delay } from '#shared/async/delay.ts';
import type { Logger } from '#shared/logging/logger.ts';
import { type ProbeClock, Prober } from './prober.ts';

/** Why a server cannot be used, for an operator: without addresses and secrets. */
export interface UnavailableCause {
  /** Half a sentence, with the variable and what to do where that is known. */
  readonly detail: string;
  /** Waiting does not help: a person must change something. */
  readonly isPermanent: boolean;
}

const defaultProbeTimeoutMs = 500;

/** From the beginning of one probe to that of the next, while the server is away. */
const probeEveryMs = 500;

/** What is over sooner is no outage: a connection that is made again, or a leader that is elected at once. */
const blipMs = 300;
const blipProbeEveryMs = 50;

/** How many probes in a row may say nothing because the process itself was not running. */
const maxStalls = 3;

/** A call without an answer for so long has the server probed, and again each time as long has passed. */
const suspectAfterMs = 500;

const ownClock: ProbeClock = { now: () => performance.now(), pause: delay };

export interface AvailabilityOptions {
  /** The server's name in the log. */
  readonly server: string;
  /** Asks the server for as little as there is; gives up when the time is over. @throws the call's failure */
  readonly probe: (timeoutMs: number) => Promise<unknown>;
  /**
   * Repairs what the outage broke, before the server counts as back. Never throws.
   * @param tookMs how long the server's answer took
   */
  readonly repair?: (tookMs: number) => Promise<void>;
  /** Finds out why a probe failed. */
  readonly explain: (failure: unknown) => Promise<UnavailableCause>;
  /** Whether a failure is the server's own answer, if only that it will not. */
  readonly isAnswer: (failure: unknown) => boolean;
  /** What a probe that took too long has failed with. */
  readonly timedOut: (waitedMs: number) => Error;
  /** A probe that takes longer counts as failed, unless the ones before took as long. Default 500 ms. */
  readonly probeTimeoutMs?: number;
  /** Gets a line when the server is found away or back. Default: nobody does. */
  readonly log?: Logger;
  /** Default: the machine's own. */
  readonly clock?: ProbeClock;
}

/**
 * Whether the server can be used. It counts as away once a call and then a probe have failed; from then on a probe asks
 * twice a second until one is answered, so that nobody else has to wait to find out.
 */
export class Availability {
  readonly #options: AvailabilityOptions;
  readonly #clock: ProbeClock;
  readonly #prober: Prober;
  readonly #closed = new AbortController();
  #cause: UnavailableCause | null = null;
  #probing: Promise<void> | null = null;
  /** When a call was last answered. */
  #answeredAt = Number.NEGATIVE_INFINITY;
  /** Aborts when the server is next found away. */
  #away = new AbortController();
  /** Aborts when the server is next found back. */
  #back = new AbortController();

  constructor(options: AvailabilityOptions) {
    this.#options = options;
    this.#clock = options.clock ?? ownClock;
    const { probe, isAnswer, timedOut, probeTimeoutMs = defaultProbeTimeoutMs } = options;
    const { signal } = this.#closed;
    this.#prober = new Prober({ probe, isAnswer, timedOut, probeTimeoutMs, clock: this.#clock, signal });
  }

  /** Why the server cannot be used; null while it can, as far as is known. */
  get cause(): UnavailableCause | null {
    return this.#cause;
  }

  /** Reports an answered call: the server is not away, however late it is with a probe that is under way. */
  answered(): void {
    this.#answeredAt = this.#clock.now();
  }

  /** Reports a failed call. A server that has answered is available, whatever it answered. */
  failed(error: unknown): void {
    if (this.#options.isAnswer(error)) this.answered();
    else this.suspect();
  }

  /** Probes the server at once. */
  suspect(): void {
    if (this.#closed.signal.aborted) return;
    this.#probing ??= this.#probe().finally(() => {
      this.#probing = null;
    });
  }

  /**
   * Waits for work only while the server is not known to be away; has it probed while the work takes long.
   * @param away what to answer then
   */
  async unlessAway<Value, Away>(work: Promise<Value>, away: (cause: UnavailableCause) => Away): Promise<Value | Away> {
    const { signal } = this.#away;
    const { promise: gone, resolve } = Promise.withResolvers<void>();
    const onAway = () => resolve();
    signal.addEventListener('abort', onAway, { once: true });
    if (signal.aborted) resolve();
    const suspecting = setInterval(() => this.suspect(), suspectAfterMs);
    try {
      return await Promise.race([work, gone.then(() => away(this.#cause ?? unknownCause))]);
    } finally {
      clearInterval(suspecting);
      signal.removeEventListener('abort', onAway);
    }
  }

  /** Waits so long at most, and no longer once the server is found back or the signal aborts. */
  async waitUntilBack(milliseconds: number, signal: AbortSignal): Promise<void> {
    await delay(milliseconds, AbortSignal.any([signal, this.#back.signal]));
  }

  /** Probes no more. */
  async close(): Promise<void> {
    this.#closed.abort();
    await this.#probing;
  }

  async #probe(): Promise<void> {
    const { signal } = this.#closed;
    const suspectedAt = this.#clock.now();
    let stalls = 0;
    while (!signal.aborted) {
      const began = this.#clock.now();
      const result = await this.#prober.ask();
      if (result.kind === 'answered') return this.#setAvailable(result.tookMs);
      if (result.kind === 'answered late') continue;
      if (this.#cause === null && this.#answeredAt >= began) return;
      if (result.isOwnStall && stalls < maxStalls) {
        stalls += 1;
        continue;
      }
      if (signal.aborted) return;
      const isAway = this.#cause !== null || this.#clock.now() - suspectedAt >= blipMs;
      if (isAway) this.#setAway(await this.#options.explain(result.failure));
      await this.#prober.pause(began + (isAway ? probeEveryMs : blipProbeEveryMs) - this.#clock.now());
    }
  }

  async #setAvailable(tookMs: number): Promise<void> {
    if (this.#cause === null) return;
    await this.#options.repair?.(tookMs);
    this.#cause = null;
    this.#away = new AbortController();
    this.#back.abort();
    this.#options.log?.info({}, `${this.#options.server} can be used again`);
  }

  #setAway(cause: UnavailableCause): void {
    const { server, log } = this.#options;
    const isNew = this.#cause?.detail !== cause.detail;
    if (isNew) log?.warn({ cause: cause.detail }, `${server} cannot be used; it is probed until it can`);
    if (this.#cause === null) this.#back = new AbortController();
    this.#cause = cause;
    this.#away.abort();
  }
}

const unknownCause: UnavailableCause = { detail: 'it does not answer', isPermanent: false };
