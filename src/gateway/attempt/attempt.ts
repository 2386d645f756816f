import type { IncomingHttpHeaders } from 'node:http';
import type { ModelTarget } from '#gateway/config/catalogue.ts';
import { GatheredBytes } from '#gateway/framing/gathered-bytes.ts';
import { DecompressionError } from '#gateway/transport/decompressed-stream.ts';
import type { Timeouts } from '#gateway/transport/timeouts.ts';
import type { Transport, UpstreamCall, UpstreamListener, UpstreamRequest } from '#gateway/transport/transport.ts';
import { type AttemptFailure, maxRefusalBytes, parseRefusal, type TimeoutName, unreadable } from './attempt-failure.ts';
import type { AttemptControl, BodyConsumer, CreateBodyConsumer } from './body-consumer.ts';
import { Deadline } from './deadline.ts';

/** The timeouts of an attempt in milliseconds. */
export interface AttemptTimeouts extends Pick<Timeouts, 'connectMs' | 'headersMs' | 'firstContentMs' | 'idleMs'> {
  /** The time from the request sent to the beginning of a part, for a target that shows signs of life until then. */
  readonly firstPartMs: number;
}

/** How many times as long as a mute target one may take that shows signs of life, but begins nothing. */
const signsOfLifeFactor = 3;

/** The timeouts of any attempt but one that waits for a whole answer to be made. */
export function attemptTimeouts(timeouts: Timeouts): AttemptTimeouts {
  return { ...timeouts, firstPartMs: signsOfLifeFactor * timeouts.firstContentMs };
}

interface WaitingCall {
  readonly remainingMs: number;
  /** The number of targets that may still serve it, with the present one. */
  readonly targetsLeft: number;
}

const lastWaitMs = 300_000;
const minWaitMs = 60_000;

/**
 * The timeouts for a provider that sends nothing before it has made the whole answer. What the configuration does not
 * state leaves time for the targets after it.
 */
export function wholeAnswerTimeouts(target: ModelTarget, { remainingMs, targetsLeft }: WaitingCall): AttemptTimeouts {
  const isLast = targetsLeft === 1;
  const waitMs = isLast ? lastWaitMs : Math.max(minWaitMs, remainingMs / targetsLeft);
  const { headersMs = waitMs, firstContentMs } = target.statedTimeouts;
  if (firstContentMs !== undefined) return { ...attemptTimeouts(target.timeouts), headersMs };
  // No other target waits for the last one, so signs of life may keep it up to the total.
  return { ...target.timeouts, headersMs, firstContentMs: waitMs, firstPartMs: isLast ? remainingMs : waitMs };
}

export type AttemptOutcome =
  | { readonly kind: 'completed' }
  | { readonly kind: 'abandoned' }
  | { readonly kind: 'failed'; readonly failure: AttemptFailure };

/** Times by the monotonic clock in ms; null for what did not arrive. */
export interface AttemptTimes {
  readonly headersAt: number | null;
  readonly contentAt: number | null;
}

interface PartialRefusal {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: GatheredBytes;
}

/** How long a completed attempt waits for the end of the provider's response. */
const lingerMs = 1_000;
/** How long a complete answer may pause before its end. */
const maxEndingSilenceMs = 3_000;
const abandoned: AttemptOutcome = { kind: 'abandoned' };

/**
 * One attempt: one request to one target, within its timeouts. It settles once, with an `AttemptOutcome`.
 *
 * Each state, with the timeout that runs in it:
 *
 * ```text
 *            start
 *              │
 *        ┌─────▼──────┐ onSent  ┌─────────┐ onHeaders 2xx ┌──────────┐ markContent ┌───────────┐
 *        │ connecting ├────────►│ waiting ├──────────────►│ starting ├────────────►│ streaming │
 *        │ connect    │         │ headers*│               │ first-   │             │ idle      │
 *        └────────────┘         └────┬────┘               │ Content  │             └─────┬─────┘
 *                                    │ onHeaders, no 2xx  └──────────┘                   │ markEnding
 *                               ┌────▼─────┐                                       ┌─────▼─────┐
 *                               │ refusing │                                       │ ending    │
 *                               │ idle     │                                       │ idle, 3 s │
 *                               └────┬─────┘                                       └─────┬─────┘
 *                                    │ whole body                                        │ complete
 *                                    ▼                                                   ▼
 *                                 failed                                    completed ─(lingers 1 s)─► closed
 * ```
 *
 * - `*` or `firstContent`, whichever is shorter: both count from `onSent`.
 * - `markAlive` restarts `firstContent`. Until a part has begun, that ends at `firstPart`, counted from `onSent`, pauses
 *   included.
 * - The body of a refusal has `idle` in all; data does not extend it.
 * - `pause` and `resume` lead from `starting`, `streaming` or `ending` to the same state without a timeout, and back.
 * - `readUsageOnly` (the client has left) leads to `ending`, where nothing can pause or extend the wait any more.
 *
 * It ends in one of three ways, from any state:
 *
 * - `completed`: the consumer called `complete`. It may do so before `markEnding`, at the end of the response.
 * - `failed`: a timeout (`onDeadline`), a broken connection (`onError`), a refusal, a consumer that called `fail`, or
 *   the end of the call's time (`expire`). Before it settles, the consumer may complete what is whole (`onAbort`).
 * - `abandoned`: the client has left (`abandon`), or the usage did not come in time after it left.
 */
export class Attempt implements UpstreamListener, AttemptControl {
  readonly outcome: Promise<AttemptOutcome>;
  readonly #settle: (outcome: AttemptOutcome) => void;
  readonly #timeouts: AttemptTimeouts;
  readonly #createConsumer: CreateBodyConsumer;
  readonly #onContent: () => void;
  #call: UpstreamCall | null = null;
  #isSettled = false;
  readonly #deadline = new Deadline(() => this.#onDeadline());
  #timeout: TimeoutName | null = null;
  #timeoutsSet = 0;
  #sentAt = 0;
  /** Whether a part of the answer has begun, with or without content. */
  #hasBegun = false;
  #status: number | null = null;
  #headersAt: number | null = null;
  #contentAt: number | null = null;
  #consumer: BodyConsumer | null = null;
  #refusal: PartialRefusal | null = null;
  #arrivals = 0;
  #isPaused = false;
  #isEnding = false;
  /** Whether the client has left, so that only the usage is still read. */
  #isUsageOnly = false;
  #hasEnded = false;

  /** @param onContent called with the first content */
  constructor(timeouts: AttemptTimeouts, createConsumer: CreateBodyConsumer, onContent: () => void = () => undefined) {
    const { promise, resolve } = Promise.withResolvers<AttemptOutcome>();
    this.outcome = promise;
    this.#settle = resolve;
    this.#timeouts = timeouts;
    this.#createConsumer = createConsumer;
    this.#onContent = onContent;
  }

  /** The status; null before the provider's answer, and without one. */
  get status(): number | null {
    return this.#status;
  }

  get times(): AttemptTimes {
    return { headersAt: this.#headersAt, contentAt: this.#contentAt };
  }

  start(transport: Transport, request: UpstreamRequest): void {
    const call = transport.call(request, this);
    this.#call = call;
    if (this.#sentAt === 0 && !this.#isSettled) this.#setTimeout('connect', this.#timeouts.connectMs);
    // The call may have failed before there was anything to abort.
    if (this.#isSettled) call.abort();
  }

  abandon(): void {
    this.#end(abandoned);
  }

  /**
   * Reads a complete answer to its end although the client has left, because its usage may still arrive. The time limit
   * is that of every ending, counted from now; later data does not extend it.
   */
  readUsageOnly(): void {
    if (this.#isSettled) return;
    this.#isEnding = true;
    this.#isUsageOnly = true;
    this.#setTimeout('idle', this.#silenceMs());
    if (this.#isPaused) this.#call?.resume();
    this.#isPaused = false;
  }

  /** Ends the attempt, because the time of the whole call is over. */
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
    this.#status = status;
    if (status < 200 || status >= 300) {
      this.#refusal = { status, headers, body: new GatheredBytes() };
      this.#setTimeout('idle', this.#timeouts.idleMs);
      return;
    }
    const left = this.#timeouts.firstContentMs - (this.#headersAt - this.#sentAt);
    this.#setTimeout('firstContent', Math.max(1, left));
    this.#guard(() => {
      this.#consumer = this.#createConsumer(status, headers, this);
    });
  }

  onData(chunk: Buffer): void {
    // undici passes empty chunks at times.
    if (this.#isSettled || chunk.length === 0) return;
    this.#arrivals += 1;
    if (this.#isExtendedByData) this.#deadline.set(this.#timeouts.idleMs);
    if (this.#refusal !== null) this.#takeRefusal(this.#refusal, chunk);
    else this.#guard(() => this.#consumer?.onData(chunk));
  }

  onEnd(): void {
    this.#hasEnded = true;
    if (this.#isSettled) this.#clearTimeout();
    else if (this.#refusal !== null) this.#refuse(this.#refusal);
    else this.#guard(() => this.#consumer?.onEnd());
  }

  onError(error: Error): void {
    if (this.#isSettled) this.#clearTimeout();
    // A refusal with a broken body is still a refusal.
    else if (this.#refusal !== null) this.#refuse(this.#refusal);
    else this.fail({ kind: 'broken', how: classifyBreak(error, this.#sentAt > 0) });
  }

  markAlive(hasBegun: boolean): void {
    this.#hasBegun ||= hasBegun;
    if (this.#timeout === 'firstContent') this.#awaitContent();
  }

  markContent(): void {
    if (this.#contentAt !== null || this.#isSettled) return;
    this.#contentAt = performance.now();
    this.#setTimeout('idle', this.#timeouts.idleMs);
    this.#onContent();
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
    // Closing immediately would lose the connection, which can be reused when the response ends.
    if (!this.#hasEnded) this.#deadline.set(lingerMs);
    if (this.#isPaused) this.#call?.resume();
    this.#settle({ kind: 'completed' });
  }

  fail(failure: AttemptFailure): void {
    if (this.#isSettled) return;
    const consumer = this.#consumer;
    this.#consumer = null;
    this.#guard(() => consumer?.onAbort?.());
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
    if (this.#contentAt === null) this.#awaitContent();
    else this.#setTimeout('idle', this.#silenceMs());
    if (!this.#isSettled) this.#call?.resume();
  }

  /** Restarts the wait for the first content, unless no part has begun in the time for that. */
  #awaitContent(): void {
    const { firstContentMs, firstPartMs } = this.#timeouts;
    const left = this.#hasBegun ? firstContentMs : this.#sentAt + firstPartMs - performance.now();
    if (left <= 0) this.fail({ kind: 'limit', limit: 'firstContent' });
    else this.#setTimeout('firstContent', Math.min(firstContentMs, left));
  }

  #takeRefusal(refusal: PartialRefusal, chunk: Buffer): void {
    refusal.body.add(chunk);
    if (refusal.body.length > maxRefusalBytes) this.#refuse(refusal);
  }

  #refuse({ status, headers, body }: PartialRefusal): void {
    this.#guard(() => this.fail(parseRefusal(status, headers, body.bytes)));
  }

  /** Guards a reader, so that an error ends this attempt alone. */
  #guard(read: () => void): void {
    try {
      read();
    } catch (error) {
      this.fail(unreadable(error));
    }
  }

  #end(outcome: AttemptOutcome): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.#clearTimeout();
    // Has no effect on a response that has ended; any other is closed immediately.
    this.#call?.abort();
    this.#settle(outcome);
  }

  /** Whether arriving data extends the running timeout. */
  get #isExtendedByData(): boolean {
    return this.#timeout === 'idle' && !this.#isEnding && this.#refusal === null;
  }

  #silenceMs(): number {
    return this.#isEnding ? Math.min(maxEndingSilenceMs, this.#timeouts.idleMs) : this.#timeouts.idleMs;
  }

  #setTimeout(limit: TimeoutName, milliseconds: number): void {
    this.#timeout = limit;
    this.#timeoutsSet += 1;
    this.#deadline.set(milliseconds);
  }

  /** After a long turn of the event loop, timers fire before arrived data is read. This reads the data first. */
  #onDeadline(): void {
    if (this.#isSettled) {
      this.#call?.abort();
      return;
    }
    const [limit, timeoutsSet, arrivals] = [this.#timeout, this.#timeoutsSet, this.#arrivals];
    setImmediate(() => {
      const isExtended = this.#isExtendedByData && this.#arrivals !== arrivals;
      if (limit === null || this.#timeout !== limit || this.#timeoutsSet !== timeoutsSet || isExtended) return;
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
  if (error instanceof DecompressionError) return 'malformed';
  const code = String(error.code ?? '');
  if (!sent || connecting.has(code) || code === 'UND_ERR_CONNECT_TIMEOUT') return 'unreachable';
  return code.startsWith('HPE_') || code === 'UND_ERR_HEADERS_OVERFLOW' ? 'malformed' : 'reset';
}
