import type { IncomingHttpHeaders } from 'node:http';
import { type AttemptFailure, type Limit, refusalBytesAtMost, refusedBy } from './attempt-failure.ts';
import type { Timeouts } from './configuration.ts';
import { Deadline } from './deadline.ts';
import type { Transport, UpstreamCall, UpstreamListener, UpstreamRequest } from './transport.ts';

/** What an answer's body can do to the attempt that brings it. */
export interface AttemptControl {
  /** Content has come: from here on only silence and the total limit count. */
  readonly content: () => void;
  /** All that makes an answer has come: what the provider may still add has a few seconds, from the latest call on. */
  readonly ending: () => void;
  /** The answer is complete. What the provider still sends, its end at best, has a moment to come. */
  readonly served: () => void;
  readonly failed: (failure: AttemptFailure) => void;
  /** Lets nothing come; the provider's silence is then not counted. */
  readonly pause: () => void;
  readonly resume: () => void;
}

/** Takes the body of a successful answer. */
export interface Reception {
  readonly onData: (chunk: Buffer) => void;
  readonly onEnd: () => void;
  /** The attempt fails: what has arrived is to be dealt with first. */
  readonly onBreak?: () => void;
}

/** Picks what takes the body of a successful answer. */
export type Receive = (status: number, headers: IncomingHttpHeaders, attempt: AttemptControl) => Reception;

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
interface RefusalParts {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly chunks: Buffer[];
  bytes: number;
}

const lingerMs = 1_000;
const endingMs = 3_000;
const givenUp: AttemptOutcome = { kind: 'given-up' };

/** One call to one target, held to its limits. It settles once; then nothing more comes of it. */
export class Attempt implements UpstreamListener, AttemptControl {
  readonly outcome: Promise<AttemptOutcome>;
  readonly #settle: (outcome: AttemptOutcome) => void;
  readonly #limits: Timeouts;
  readonly #receive: Receive;
  #call: UpstreamCall | null = null;
  #settled = false;
  readonly #deadline = new Deadline(() => this.#ranOut());
  /** What runs out with the deadline; null while nothing does. */
  #limit: Limit | null = null;
  /** Limits set so far. */
  #armings = 0;
  #sentAt = 0;
  #headersAt: number | null = null;
  #contentAt: number | null = null;
  #reception: Reception | null = null;
  #refusal: RefusalParts | null = null;
  /** What has come so far, of any kind. */
  #arrivals = 0;
  #paused = false;
  #ending = false;
  /** The caller has left: what still comes is read for its usage alone. */
  #unread = false;
  #ended = false;

  constructor(limits: Timeouts, receive: Receive) {
    const { promise, resolve } = Promise.withResolvers<AttemptOutcome>();
    this.outcome = promise;
    this.#settle = resolve;
    this.#limits = limits;
    this.#receive = receive;
  }

  get times(): AttemptTimes {
    return { headersAt: this.#headersAt, contentAt: this.#contentAt };
  }

  start(transport: Transport, request: UpstreamRequest): void {
    const call = transport.call(request, this);
    this.#call = call;
    if (this.#sentAt === 0 && !this.#settled) this.#arm('connect', this.#limits.connectMs);
    // It may have failed before there was anything to abort.
    if (this.#settled) call.abort();
  }

  /** Ends it from outside: the caller left. */
  giveUp(): void {
    this.#end(givenUp);
  }

  /**
   * Reads a finished answer to its end though the caller has left: its usage may still come. That has as long as any
   * ending has, counted from now whatever comes meanwhile.
   */
  readOn(): void {
    if (this.#settled) return;
    this.#ending = true;
    this.#unread = true;
    this.#arm('idle', this.#quietMs());
    if (this.#paused) this.#call?.resume();
    this.#paused = false;
  }

  /** Ends it from outside: the whole call's time is over. */
  runOut(): void {
    this.failed({ kind: 'limit', limit: 'total' });
  }

  onSent(): void {
    if (this.#settled) return;
    this.#sentAt = performance.now();
    const { headersMs, firstContentMs } = this.#limits;
    if (headersMs <= firstContentMs) this.#arm('headers', headersMs);
    else this.#arm('firstContent', firstContentMs);
  }

  onHeaders(status: number, headers: IncomingHttpHeaders): void {
    if (this.#settled) return;
    this.#headersAt = performance.now();
    if (status < 200 || status >= 300) {
      this.#refusal = { status, headers, chunks: [], bytes: 0 };
      this.#arm('idle', this.#limits.idleMs);
      return;
    }
    const left = this.#limits.firstContentMs - (this.#headersAt - this.#sentAt);
    this.#arm('firstContent', Math.max(1, left));
    this.#reception = this.#receive(status, headers, this);
  }

  onData(chunk: Buffer): void {
    // undici hands over empty chunks at times.
    if (this.#settled || chunk.length === 0) return;
    this.#arrivals += 1;
    if (this.#contentAt !== null && !this.#ending && this.#limit !== null) this.#deadline.set(this.#limits.idleMs);
    if (this.#refusal !== null) this.#takeRefusal(this.#refusal, chunk);
    else this.#reception?.onData(chunk);
  }

  onEnd(): void {
    this.#ended = true;
    if (this.#settled) this.#disarm();
    else if (this.#refusal !== null) this.#refuse(this.#refusal);
    else this.#reception?.onEnd();
  }

  onError(error: Error): void {
    if (this.#settled) this.#disarm();
    // A refusal whose body broke is a refusal all the same.
    else if (this.#refusal !== null) this.#refuse(this.#refusal);
    else this.failed({ kind: 'broken', how: howBroken(error, this.#sentAt > 0) });
  }

  content(): void {
    if (this.#contentAt !== null || this.#settled) return;
    this.#contentAt = performance.now();
    this.#arm('idle', this.#limits.idleMs);
  }

  ending(): void {
    if (this.#settled || this.#unread) return;
    this.#ending = true;
    if (!this.#paused) this.#arm('idle', this.#quietMs());
  }

  served(): void {
    if (this.#settled) return;
    this.#settled = true;
    this.#disarm();
    // Closing at once would cost the connection, which is free again with the end of the answer.
    if (!this.#ended) this.#deadline.set(lingerMs);
    if (this.#paused) this.#call?.resume();
    this.#settle({ kind: 'served' });
  }

  failed(failure: AttemptFailure): void {
    if (this.#settled) return;
    const reception = this.#reception;
    this.#reception = null;
    reception?.onBreak?.();
    this.#end({ kind: 'failed', failure });
  }

  pause(): void {
    if (this.#settled || this.#paused || this.#unread) return;
    this.#paused = true;
    this.#disarm();
    this.#call?.pause();
  }

  resume(): void {
    if (this.#settled || !this.#paused) return;
    this.#paused = false;
    this.#arm('idle', this.#quietMs());
    this.#call?.resume();
  }

  #takeRefusal(refusal: RefusalParts, chunk: Buffer): void {
    refusal.chunks.push(chunk);
    refusal.bytes += chunk.length;
    if (refusal.bytes > refusalBytesAtMost) this.#refuse(refusal);
  }

  #refuse({ status, headers, chunks }: RefusalParts): void {
    this.failed(refusedBy(status, headers, Buffer.concat(chunks)));
  }

  #end(outcome: AttemptOutcome): void {
    if (this.#settled) return;
    this.#settled = true;
    this.#disarm();
    // What has ended by itself takes no notice; anything else is closed at once.
    this.#call?.abort();
    this.#settle(outcome);
  }

  #quietMs(): number {
    return this.#ending ? Math.min(endingMs, this.#limits.idleMs) : this.#limits.idleMs;
  }

  #arm(limit: Limit, milliseconds: number): void {
    this.#limit = limit;
    this.#armings += 1;
    this.#deadline.set(milliseconds);
  }

  /** After a long turn timers come before what has arrived meanwhile: that is looked at first. */
  #ranOut(): void {
    if (this.#settled) {
      this.#call?.abort();
      return;
    }
    const [limit, armings, arrivals] = [this.#limit, this.#armings, this.#arrivals];
    setImmediate(() => {
      const isQuiet = limit !== 'idle' || this.#ending || this.#arrivals === arrivals;
      if (limit === null || this.#limit !== limit || this.#armings !== armings || !isQuiet) return;
      if (this.#settled || this.#paused) return;
      if (this.#refusal !== null) this.#refuse(this.#refusal);
      else if (this.#unread) this.giveUp();
      else this.failed({ kind: 'limit', limit });
    });
  }

  #disarm(): void {
    this.#limit = null;
    this.#deadline.clear();
  }
}

const connecting = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'ETIMEDOUT']);

function howBroken(error: Error & { readonly code?: unknown }, sent: boolean): 'unreachable' | 'reset' | 'malformed' {
  const code = String(error.code ?? '');
  if (!sent || connecting.has(code) || code === 'UND_ERR_CONNECT_TIMEOUT') return 'unreachable';
  return code.startsWith('HPE_') || code === 'UND_ERR_HEADERS_OVERFLOW' ? 'malformed' : 'reset';
}
