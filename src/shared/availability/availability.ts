import { BackOff } from '#shared/async/retrying.ts';
import { delay } from '#shared/async/timed-waits.ts';
import { clock } from '#shared/clock.ts';
import type { Logger } from '#shared/logging/logger.ts';
import { OutageLines } from './outage-lines.ts';
import { Prober, probeEveryMs } from './prober.ts';

/** Why a server cannot be used, for an operator, without secrets. */
export interface UnavailableCause {
  /** A phrase without addresses; if known, with the variable and what to do. */
  readonly detail: string;
  /** True if waiting does not help, because a person must change something. */
  readonly isPermanent: boolean;
  /** The address, which only the log shows. */
  readonly address?: string;
}

const defaultSilentAfterMs = 500;

/** Pauses between two probes of a server that refuses, for example a password, until a person changes something. */
const refusedLimits = { firstMs: 1_000, maxMs: 30_000 };

/** A shorter failure does not count as an outage: the connection is made again, or a leader is elected immediately. */
const transientMs = 300;
const transientProbeEveryMs = 50;

/** The time after which a call without an answer causes a probe. */
const suspectAfterMs = 500;

export interface AvailabilityOptions {
  /** Names the server in the log. */
  readonly server: string;
  /** Sends the smallest request to the server, and gives up after the time limit. @throws the call's failure */
  readonly probe: (timeoutMs: number) => Promise<unknown>;
  /**
   * Repairs what the outage broke, before the server counts as available. Never throws.
   * @param tookMs the time until the server's answer
   */
  readonly repair?: (tookMs: number) => Promise<void>;
  readonly explain: (failure: unknown) => Promise<UnavailableCause>;
  /** True if the server has answered. A refusal is an answer, too. */
  readonly isAnswer: (failure: unknown) => boolean;
  /** True for a refusal that lasts until a person changes something. Default: no failure is a refusal. */
  readonly isRefusal?: (failure: unknown) => boolean;
  /** True if no answer came in time. Default: no failure is silence. */
  readonly isSilence?: (failure: unknown) => boolean;
  readonly timedOut: (waitedMs: number) => Error;
  /** The silence after which the server counts as unavailable. Slow answers that were heard extend it. Default 500 ms. */
  readonly silentAfterMs?: number;
  /** Gets a line when the server becomes unavailable, and when it recovers. Default: no log. */
  readonly log?: Logger;
}

/**
 * Knows whether a server can be used. A call that failed, or that waits for more than half a second, makes it doubtful:
 * then it is probed. It counts as unavailable if every probe fails for 300 ms, or if nothing at all, neither a probe nor
 * a call, is answered for `silentAfterMs`. A slow probe proves nothing while a call is answered. From then on the server
 * is probed twice a second until it answers, so that no caller has to wait to find out.
 */
export class Availability {
  readonly #options: AvailabilityOptions;
  readonly #prober: Prober;
  readonly #lines: OutageLines;
  readonly #closed = new AbortController();
  #cause: UnavailableCause | null = null;
  #probing: Promise<void> | null = null;
  #explaining: Promise<void> | null = null;
  #answeredAt = Number.NEGATIVE_INFINITY;
  /** Aborts when the server next becomes unavailable. */
  #unavailable = new AbortController();
  /** Aborts at the end of the next outage. */
  #recovered = new AbortController();

  constructor(options: AvailabilityOptions) {
    this.#options = options;
    this.#lines = new OutageLines({ server: options.server, log: options.log ?? null });
    const { probe, isAnswer, isSilence = () => false, silentAfterMs = defaultSilentAfterMs } = options;
    const { signal } = this.#closed;
    this.#prober = new Prober({ probe, isAnswer, isSilence, silentAfterMs, signal });
  }

  /** Why the server is unavailable; null while it is available, as far as is known. */
  get cause(): UnavailableCause | null {
    return this.#cause;
  }

  /** Notes that the server is available, even if a probe is late. */
  answered(): void {
    this.#answeredAt = clock.now();
  }

  /** Notes an answer to one message, perhaps of several of a call. During an outage it counts like that to a probe. */
  heard({ tookMs, isSmall }: { readonly tookMs: number; readonly isSmall: boolean }): void {
    this.answered();
    this.#prober.learn(tookMs, isSmall);
    if (this.#cause !== null) this.#prober.heard(tookMs);
  }

  suspect(): void {
    if (this.#closed.signal.aborted) return;
    this.#probing ??= this.#probe().finally(() => {
      this.#probing = null;
    });
  }

  /**
   * Waits for work while the server is not known to be unavailable, and probes it while the work takes long.
   * @param resultOf returns the result if the server is unavailable
   */
  async failWhenUnavailable<Value, Other>(
    work: Promise<Value>,
    resultOf: (cause: UnavailableCause) => Other,
  ): Promise<Value | Other> {
    const { signal } = this.#unavailable;
    const { promise: gone, resolve } = Promise.withResolvers<void>();
    const onUnavailable = () => resolve();
    signal.addEventListener('abort', onUnavailable, { once: true });
    if (signal.aborted) resolve();
    const suspecting = clock.setInterval(() => this.suspect(), suspectAfterMs);
    try {
      return await Promise.race([work, gone.then(() => resultOf(this.#cause ?? unknownCause))]);
    } finally {
      clock.clearInterval(suspecting);
      signal.removeEventListener('abort', onUnavailable);
    }
  }

  /** Waits for a time, or less if an outage ends meanwhile, or if the signal aborts. */
  async waitForRecovery(milliseconds: number, signal: AbortSignal): Promise<void> {
    await delay(milliseconds, AbortSignal.any([signal, this.#recovered.signal]));
  }

  async close(): Promise<void> {
    this.#closed.abort();
    await this.#probing;
    await this.#explaining;
  }

  async #probe(): Promise<void> {
    const { signal } = this.#closed;
    const { timedOut, isRefusal = () => false } = this.#options;
    const refusals = new BackOff(refusedLimits);
    let silentMs = 0;
    let failingSince: number | null = null;
    this.#prober.begin();
    while (!signal.aborted) {
      const began = clock.now();
      const result = await this.#prober.ask();
      if (result.kind === 'answered') return this.#setAvailable(result.tookMs);
      if (this.#cause === null && this.#answeredAt >= began) return;
      if (result.kind === 'answered late') continue;
      if (signal.aborted) return;
      silentMs += result.kind === 'silent' ? result.forMs : 0;
      failingSince = result.kind === 'silent' ? null : (failingSince ?? began);
      const failure = result.kind === 'silent' ? timedOut(silentMs) : result.failure;
      const isSilent = silentMs >= this.#prober.silentAfterMs;
      const isTransient = failingSince === null || clock.now() - failingSince < transientMs;
      if (this.#cause !== null || isSilent || !isTransient || isRefusal(failure)) await this.#setUnavailable(failure);
      await this.#prober.pause(began + this.#pauseMs(refusals) - clock.now());
    }
  }

  #pauseMs(refusals: BackOff): number {
    if (this.#cause?.isPermanent) return refusals.failed();
    refusals.succeeded();
    return this.#cause === null ? transientProbeEveryMs : probeEveryMs;
  }

  async #setAvailable(tookMs: number): Promise<void> {
    if (this.#cause === null) return;
    await this.#options.repair?.(tookMs);
    this.#cause = null;
    this.#unavailable = new AbortController();
    this.#recovered.abort();
    this.#recovered = new AbortController();
    this.#lines.ended();
  }

  /** Waits only for the first explanation of an outage, so that none delays the next probe. */
  async #setUnavailable(failure: unknown): Promise<void> {
    const { signal: over } = this.#recovered;
    this.#explaining ??= this.#explain(failure)
      .then((cause) => {
        if (!over.aborted) this.#outageLasts(cause);
      })
      .finally(() => {
        this.#explaining = null;
      });
    if (this.#cause === null) await this.#explaining;
  }

  /** Explains an outage. One whose explanation fails is an outage too. */
  async #explain(failure: unknown): Promise<UnavailableCause> {
    try {
      return await this.#options.explain(failure);
    } catch {
      return unknownCause;
    }
  }

  #outageLasts(cause: UnavailableCause): void {
    this.#lines.lasts(cause);
    this.#cause = cause;
    this.#unavailable.abort();
  }
}

const unknownCause: UnavailableCause = { detail: 'it does not answer', isPermanent: false };
