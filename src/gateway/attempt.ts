import type { IncomingHttpHeaders } from 'node:http';
import { type AttemptFailure, maxRefusalBytes, parseRefusal, type TimeoutName } from './attempt-failure.ts';
import type { Timeouts } from './configuration.ts';
import { Deadline } from './deadline.ts';
import type { Transport, UpstreamCall, UpstreamListener, UpstreamRequest } from './transport.ts';

/** What an answer's body can do to the attempt that brings it. */
export interface AttemptControl {
  /** Content has come: from here on only silence and the total limit count. */
  readonly markContent: () => void;
  /** All that makes an answer has come: what the provider may still add has a few seconds, from the latest call on. */
  readonly markEnding: () => void;
  /** The answer is complete. What the provider still sends, its end at best, has a moment to come. */
  readonly complete: () => void;
  readonly fail: (failure: AttemptFailure) => void;
  /** Lets nothing come; the provider's silence is then not counted. */
  readonly pause: () => void;
  readonly resume: () => void;
}

/** Takes the body of a successful answer. */
export interface BodyConsumer {
  readonly onData: (chunk: Buffer) => void;
  readonly onEnd: () => void;
  /** The attempt fails: what has arrived is to be dealt with first. */
  readonly onAbort?: () => void;
}

/** Picks what takes the body of a successful answer. */
export type CreateBodyConsumer = (
  status: number,
  headers: IncomingHttpHeaders,
  attempt: AttemptControl,
) => BodyConsumer;

export type AttemptOutcome =
  | { readonly kind: 'served' }
  | { readonly kind: 'given-up' }
  | { readonly kind: 'failed'; readonly failure: AttemptFailure };

/** When what happened, by the monotonic clock in ms; null for what did not. */
export interface AttemptTimes {
  readonly headersAt: number | null;
  readonly contentAt: number | null;
}

/** A refusal while its body arrives. */
interface PartialRefusal {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly chunks: Buffer[];
  bytes: number;
}

const lingerMs = 1_000;
const endingMs = 3_000;
const abandoned: AttemptOutcome = { kind: 'given-up' };

/** One call to one target, held to its limits. It settles once; then nothing more comes of it. */
export class Attempt implements UpstreamListener, AttemptControl {
  readonly outcome: Promise<AttemptOutcome>;
  readonly #settle: (outcome: AttemptOutcome) => void;
  readonly #timeouts: Timeouts;
  readonly #createConsumer: CreateBodyConsumer;
  #call: UpstreamCall | null = null;
  #isSettled = false;
  readonly #deadline = new Deadline(() => this.#onDeadline());
  /** What runs out with the deadline; null while nothing does. */
  #timeout: TimeoutName | null = null;
  /** Limits set so far. */
  #timeoutsSet = 0;
  #sentAt = 0;
  #headersAt: number | null = null;
  #contentAt: number | null = null;
  #consumer: BodyConsumer | null = null;
  #refusal: PartialRefusal | null = null;
  /** What has come so far, of any kind. */
  #arrivals = 0;
  #isPaused = false;
  #isEnding = false;
  /** The caller has left: what still comes is read for its usage alone. */
  #isUsageOnly = false;
  #hasEnded = false;

  constructor(limits: Timeouts, receive: CreateBodyConsumer) {
    const { promise, resolve } = Promise.withResolvers<AttemptOutcome>();
    this.outcome = promise;
    this.#settle = resolve;
    this.#timeouts = limits;
    this.#createConsumer = receive;
  }

  get times(): AttemptTimes {
    return { headersAt: this.#headersAt, contentAt: this.#contentAt };
  }

  start(transport: Transport, request: UpstreamRequest): void {
    const call = transport.call(request, this);
    this.#call = call;
    if (this.#sentAt === 0 && !this.#isSettled) this.#setTimeout('connect', this.#timeouts.connectMs);
    // It may have failed before there was anything to abort.
    if (this.#isSettled) call.abort();
  }

  /** Ends it from outside: the caller left. */
  abandon(): void {
    this.#end(abandoned);
  }

  /**
   * Reads a finished answer to its end though the caller has left: its usage may still come. That has as long as any
   * ending has, counted from now whatever comes meanwhile.
   */
  readUsageOnly(): void {
    if (this.#isSettled) return;
    this.#isEnding = true;
    this.#isUsageOnly = true;
    this.#setTimeout('idle', this.#silenceMs());
    if (this.#isPaused) this.#call?.resume();
    this.#isPaused = false;
  }

  /** Ends it from outside: the whole call's time is over. */
  expire(): void {
    this.fail({ kind: 'limit', limit: 'total' });
  }

  onSent(): void {
    if (this.#isSettled) return;
    this.#sentAt = performance.now();
    const { headersMs, firstContentMs } = this.#timeouts;
    if (headersMs <= firstContentMs) this.#setTimeout('headers', headersMs);
    else this.#setTimeout('firstContent', firstContentMs);
  }

  onHeaders(status: number, headers: IncomingHttpHeaders): void {
    if (this.#isSettled) return;
    this.#headersAt = performance.now();
    if (status < 200 || status >= 300) {
      this.#refusal = { status, headers, chunks: [], bytes: 0 };
      this.#setTimeout('idle', this.#timeouts.idleMs);
      return;
    }
    const left = this.#timeouts.firstContentMs - (this.#headersAt - this.#sentAt);
    this.#setTimeout('firstContent', Math.max(1, left));
    this.#consumer = this.#createConsumer(status, headers, this);
  }

  onData(chunk: Buffer): void {
    // undici hands over empty chunks at times.
    if (this.#isSettled || chunk.length === 0) return;
    this.#arrivals += 1;
    if (this.#contentAt !== null && !this.#isEnding && this.#timeout !== null)
      this.#deadline.set(this.#timeouts.idleMs);
    if (this.#refusal !== null) this.#takeRefusal(this.#refusal, chunk);
    else this.#consumer?.onData(chunk);
  }

  onEnd(): void {
    this.#hasEnded = true;
    if (this.#isSettled) this.#clearTimeout();
    else if (this.#refusal !== null) this.#refuse(this.#refusal);
    else this.#consumer?.onEnd();
  }

  onError(error: Error): void {
    if (this.#isSettled) this.#clearTimeout();
    // A refusal whose body broke is a refusal all the same.
    else if (this.#refusal !== null) this.#refuse(this.#refusal);
    else this.fail({ kind: 'broken', how: classifyBreak(error, this.#sentAt > 0) });
  }

  markContent(): void {
    if (this.#contentAt !== null || this.#isSettled) return;
    this.#contentAt = performance.now();
    this.#setTimeout('idle', this.#timeouts.idleMs);
  }

  markEnding(): void {
    if (this.#isSettled || this.#isUsageOnly) return;
    this.#isEnding = true;
    if (!this.#isPaused) this.#setTimeout('idle', this.#silenceMs());
  }

  complete(): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.#clearTimeout();
    // Closing at once would cost the connection, which is free again with the end of the answer.
    if (!this.#hasEnded) this.#deadline.set(lingerMs);
    if (this.#isPaused) this.#call?.resume();
    this.#settle({ kind: 'served' });
  }

  fail(failure: AttemptFailure): void {
    if (this.#isSettled) return;
    const reception = this.#consumer;
    this.#consumer = null;
    reception?.onAbort?.();
    this.#end({ kind: 'failed', failure });
  }

  pause(): void {
    if (this.#isSettled || this.#isPaused || this.#isUsageOnly) return;
    this.#isPaused = true;
    this.#clearTimeout();
    this.#call?.pause();
  }

  resume(): void {
    if (this.#isSettled || !this.#isPaused) return;
    this.#isPaused = false;
    this.#setTimeout('idle', this.#silenceMs());
    this.#call?.resume();
  }

  #takeRefusal(refusal: PartialRefusal, chunk: Buffer): void {
    refusal.chunks.push(chunk);
    refusal.bytes += chunk.length;
    if (refusal.bytes > maxRefusalBytes) this.#refuse(refusal);
  }

  #refuse({ status, headers, chunks }: PartialRefusal): void {
    this.fail(parseRefusal(status, headers, Buffer.concat(chunks)));
  }

  #end(outcome: AttemptOutcome): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.#clearTimeout();
    // What has ended by itself takes no notice; anything else is closed at once.
    this.#call?.abort();
    this.#settle(outcome);
  }

  #silenceMs(): number {
    return this.#isEnding ? Math.min(endingMs, this.#timeouts.idleMs) : this.#timeouts.idleMs;
  }

  #setTimeout(limit: TimeoutName, milliseconds: number): void {
    this.#timeout = limit;
    this.#timeoutsSet += 1;
    this.#deadline.set(milliseconds);
  }

  /** After a long turn timers come before what has arrived meanwhile: that is looked at first. */
  #onDeadline(): void {
    if (this.#isSettled) {
      this.#call?.abort();
      return;
    }
    const [limit, armings, arrivals] = [this.#timeout, this.#timeoutsSet, this.#arrivals];
    setImmediate(() => {
      const isQuiet = limit !== 'idle' || this.#isEnding || this.#arrivals === arrivals;
      if (limit === null || this.#timeout !== limit || this.#timeoutsSet !== armings || !isQuiet) return;
      if (this.#isSettled || this.#isPaused) return;
      if (this.#refusal !== null) this.#refuse(this.#refusal);
      else if (this.#isUsageOnly) this.abandon();
      else this.fail({ kind: 'limit', limit });
    });
  }

  #clearTimeout(): void {
    this.#timeout = null;
    this.#deadline.clear();
  }
}

const connecting = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'ETIMEDOUT']);

function classifyBreak(
  error: Error & { readonly code?: unknown },
  sent: boolean,
): 'unreachable' | 'reset' | 'malformed' {
  const code = String(error.code ?? '');
  if (!sent || connecting.has(code) || code === 'UND_ERR_CONNECT_TIMEOUT') return 'unreachable';
  return code.startsWith('HPE_') || code === 'UND_ERR_HEADERS_OVERFLOW' ? 'malformed' : 'reset';
}
