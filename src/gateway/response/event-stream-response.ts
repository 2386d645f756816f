import type { ByteReservation } from '#exchange/byte-budget.ts';
import type { ResponseSink } from '#exchange/response-sink.ts';
import {
  type AttemptFailure,
  malformed,
  noRoom,
  refusalInBody,
  tooLarge,
  unfinished,
} from '#gateway/attempt/attempt-failure.ts';
import type { AttemptControl, BodyConsumer } from '#gateway/attempt/body-consumer.ts';
import { type SseBatch, SseSplitter } from '#gateway/framing/sse-splitter.ts';
import type { EventClassification, StreamInterpreter } from '#gateway/framing/stream-interpreter.ts';
import { nothingReported, type ReportedConsumption } from '#gateway/neutral/consumption.ts';
import { providerErrorIn } from '#gateway/neutral/provider-report.ts';
import { isPlain } from '#gateway/transport/transport.ts';
import { isObject, parsedJson } from '#shared/json/json.ts';
import { errorEvent, errorOf, type RefusedCall } from './error-response.ts';
import {
  createResponseHeaders,
  type FinishAnswer,
  type PrepareAnswer,
  type ResponseHandler,
  type ResponseHead,
  writePaced,
} from './response-handler.ts';

export interface EventStreamResponseOptions {
  readonly response: ResponseSink;
  /** The call that it answers, for the error in a broken stream. */
  readonly call: RefusedCall;
  /** Counts the bytes that are held. */
  readonly answerHold: ByteReservation;
  /** Makes the interpreter for the events of one attempt. */
  readonly createInterpreter: () => StreamInterpreter;
  /** Whether the answer is held until it is complete. */
  readonly isHeldWhole: boolean;
  /** Whether another target may continue the text so far. Default: false. */
  readonly canContinue?: boolean;
  /** Missing if nothing is to be done before the first event is sent. */
  readonly prepare?: PrepareAnswer;
  /** Missing if the last event is sent at once. */
  readonly finish?: FinishAnswer;
}

/** The most bytes that are held before the first content. */
const maxHeldBytes = 1024 * 1024;
const maxWholeBytes = 16 * 1024 * 1024;

const noBytes = Buffer.alloc(0);

/**
 * Passes a stream on event by event, unchanged. Headers and events before the first content wait for it, so that
 * another attempt can replace an earlier failure.
 */
export class EventStreamResponse implements ResponseHandler {
  readonly options: EventStreamResponseOptions;
  hasBegun = false;
  /** Delivers the last event; null while it has not come. */
  lastEvent: (() => Promise<void>) | null = null;
  /** The texts of attempts that broke after their content was sent. */
  readonly #texts: string[] = [];
  #interpreter: StreamInterpreter | null = null;
  #canContinue: boolean;

  constructor(options: EventStreamResponseOptions) {
    this.options = options;
    this.#canContinue = options.canContinue ?? false;
  }

  get isAwaitingUsage(): boolean {
    return this.#interpreter?.isFinished === true && this.#interpreter.tokens === null;
  }

  receive(head: ResponseHead, attempt: AttemptControl): BodyConsumer {
    if (isPlain(head.headers) && /[/+]json\b/i.test(head.headers['content-type'] ?? ''))
      return new JsonInsteadOfStream(attempt);
    const interpreter = head.translator?.interpret?.() ?? this.options.createInterpreter();
    this.#interpreter = interpreter;
    return new StreamConsumer(this, head, attempt, interpreter);
  }

  continuation(): string | null {
    if (!this.#canContinue) return null;
    if (this.#interpreter !== null) {
      const { text } = this.#interpreter;
      this.#interpreter = null;
      if (text === null) {
        this.#canContinue = false;
        return null;
      }
      this.#texts.push(text);
    }
    return this.#texts.join('');
  }

  async deliver(): Promise<void> {
    await this.lastEvent?.();
    this.lastEvent = null;
  }

  abort(failure: AttemptFailure): void {
    const { response, call } = this.options;
    const event = this.#interpreter?.errorEvent;
    response.write(event === undefined ? errorEvent(failure, call) : event(errorOf(failure, call)));
    response.end();
  }
}

/** Reads JSON that came instead of a stream. It may contain the reason. */
class JsonInsteadOfStream implements BodyConsumer {
  readonly #attempt: AttemptControl;
  #chunks: Buffer[] = [];
  #bytes = 0;

  constructor(attempt: AttemptControl) {
    this.#attempt = attempt;
  }

  onData(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes > maxHeldBytes) this.#attempt.fail(malformed);
  }

  onEnd(): void {
    const value = parsedJson(Buffer.concat(this.#chunks));
    const error = isObject(value) ? providerErrorIn(value) : null;
    this.#attempt.fail(error === null ? malformed : refusalInBody(error));
  }
}

/** The stream of one attempt. */
class StreamConsumer implements BodyConsumer {
  readonly #stream: EventStreamResponse;
  readonly #response: ResponseSink;
  readonly #status: number;
  /** The headers of the answer that it begins. They are made with the provider's headers, before any content. */
  readonly #headers: ReadonlyArray<string>;
  readonly #head: ResponseHead;
  readonly #attempt: AttemptControl;
  readonly #interpreter: StreamInterpreter;
  readonly #splitter = new SseSplitter();
  /** Whether it continues the answer of another attempt. */
  readonly #isContinuation: boolean;
  #arrived: Buffer[] = [];
  #held: Buffer[] = [];
  #heldBytes = 0;
  #hasContent = false;
  /** Settles when the answer may begin; null before its first event, and if nothing is to be done for it. */
  #preparing: Promise<void> | null = null;
  #isPrepared: boolean;
  #isOver = false;

  constructor(
    stream: EventStreamResponse,
    head: ResponseHead,
    attempt: AttemptControl,
    interpreter: StreamInterpreter,
  ) {
    const contentType = head.headers['content-type'] ?? '';
    this.#stream = stream;
    this.#response = stream.options.response;
    this.#status = head.status;
    // A proxy that buffers responses would undo the streaming.
    this.#headers = [...createResponseHeaders(head, contentType), 'X-Accel-Buffering', 'no'];
    this.#head = head;
    this.#attempt = attempt;
    this.#interpreter = interpreter;
    this.#isContinuation = stream.hasBegun;
    this.#isPrepared = stream.options.prepare === undefined;
    if (/^text\/event-stream\b/i.test(contentType) && isPlain(head.headers)) return;
    this.#isOver = true;
    queueMicrotask(() => attempt.fail(malformed));
  }

  reported(): ReportedConsumption {
    return { tokens: this.#interpreter.tokens, audioSeconds: null };
  }

  /** Reads and writes all events of a piece together. */
  onData(chunk: Buffer): void {
    if (this.#arrived.push(chunk) === 1) queueMicrotask(this.#flush);
  }

  onEnd(): void {
    this.#take();
    if (this.#isOver) return;
    this.#pass(this.#splitter.finish());
    if (this.#isOver) return;
    if (this.#interpreter.isFinished) this.#complete(this.#interpreter.finish());
    else this.#fail(unfinished);
  }

  onAbort(): void {
    this.#take();
    // The answer is complete, so the end of the connection does not matter.
    if (!this.#isOver && this.#interpreter.isFinished) this.#complete(this.#interpreter.finish());
    this.#isOver = true;
    this.#stream.options.answerHold.resize(0);
  }

  readonly #flush = (): void => {
    this.#take();
    // The first content waits for the end of its turn. If a failure came with it, another target can still answer.
    if (!this.#hasContent || this.#held.length === 0 || this.#isOver || this.#stream.options.isHeldWhole) return;
    if (this.#isPrepared) this.#write(noBytes);
    else this.#preparing ??= this.#prepare();
  };

  async #prepare(): Promise<void> {
    this.#attempt.pause();
    const failure = await this.#stream.options.prepare?.(Buffer.concat(this.#held), this.#head);
    this.#isPrepared = true;
    if (failure !== undefined && failure !== null) return this.#fail(failure);
    this.#attempt.resume();
    this.#flush();
  }

  #take(): void {
    const arrived = this.#arrived;
    const [first] = arrived;
    if (first === undefined) return;
    this.#arrived = [];
    if (this.#isOver) return;
    this.#pass(this.#splitter.push(arrived.length === 1 ? first : Buffer.concat(arrived)));
    if (!this.#isOver && this.#splitter.overflown) this.#fail(tooLarge);
  }

  #pass(batch: SseBatch): void {
    const { translated } = this.#interpreter;
    if (translated === undefined) this.#passOn(batch);
    else this.#passTranslated(batch, translated);
  }

  #passTranslated({ events }: SseBatch, translated: () => string): void {
    let hasData = false;
    for (const { data } of events) {
      hasData ||= data !== null;
      const event = this.#interpreter.classify(data);
      if (event.kind === 'content') this.#markContent();
      else if (event.kind !== 'no-content' && event.kind !== 'gateway-only') {
        this.#send(Buffer.from(translated()));
        this.#conclude(event, noBytes);
        return;
      }
    }
    this.#send(Buffer.from(translated()));
    if (hasData && this.#interpreter.isFinished && !this.#isOver) this.#attempt.markEnding();
  }

  #markContent(): void {
    if (this.#hasContent) return;
    this.#hasContent = true;
    this.#attempt.markContent();
  }

  #passOn({ bytes, events }: SseBatch): void {
    /** The start of the bytes of this batch that are not written yet. */
    let from = 0;
    let hasData = false;
    for (const { start, end, data } of events) {
      hasData ||= data !== null;
      const event = this.#interpreter.classify(data);
      if (event.kind === 'content' && !this.#hasContent) {
        this.#markContent();
        // The first attempt has already sent the events before the content.
        if (this.#isContinuation) from = start;
      } else if (event.kind === 'gateway-only') {
        this.#send(bytes.subarray(from, start));
        from = end;
      } else if (event.kind !== 'no-content' && event.kind !== 'content') {
        this.#send(bytes.subarray(from, start));
        this.#conclude(event, bytes.subarray(start, end));
        return;
      }
    }
    this.#send(from === 0 ? bytes : bytes.subarray(from));
    if (hasData && this.#interpreter.isFinished && !this.#isOver) this.#attempt.markEnding();
  }

  /** Handles an event that ends the stream. */
  #conclude(event: Extract<EventClassification, { kind: 'end' | 'malformed' | 'error' }>, bytes: Buffer): void {
    if (event.kind === 'error') this.#fail(refusalInBody(event.error));
    else if (event.kind === 'malformed') this.#fail(malformed);
    else if (!this.#interpreter.canEnd) this.#fail(unfinished);
    else {
      this.#send(bytes);
      this.#complete(this.#interpreter.translated === undefined ? '' : this.#interpreter.finish());
    }
  }

  #send(bytes: Buffer): void {
    if (bytes.length === 0 || this.#isOver) return;
    if (this.#hasContent && this.#stream.hasBegun) {
      this.#write(bytes);
      return;
    }
    if (this.#isContinuation) return;
    this.#held.push(bytes);
    this.#heldBytes += bytes.length;
    const { isHeldWhole } = this.#stream.options;
    const isWaiting = isHeldWhole || !this.#hasContent;
    if (isWaiting && this.#heldBytes > (isHeldWhole ? maxWholeBytes : maxHeldBytes)) this.#fail(tooLarge);
    else if (!this.#stream.options.answerHold.takeBegun(bytes.length)) this.#fail(noRoom);
  }

  #write(bytes: Buffer): void {
    if (!this.#stream.hasBegun) this.#begin();
    writePaced(this.#response, this.#withHeld(bytes), this.#attempt);
  }

  #withHeld(bytes: Buffer): Buffer {
    if (this.#held.length === 0) return bytes;
    const [first = noBytes] = this.#held;
    const all = this.#held.length === 1 && bytes.length === 0 ? first : Buffer.concat([...this.#held, bytes]);
    this.#held = [];
    this.#stream.options.answerHold.resize(0);
    return all;
  }

  #begin(): void {
    this.#stream.hasBegun = true;
    // The usage of an answer that is passed on as it arrives comes after its head.
    const reported = this.#stream.options.isHeldWhole ? this.reported() : nothingReported;
    this.#response.start(this.#status, [...this.#headers, ...(this.#head.costHeader?.(reported) ?? [])]);
  }

  #complete(endMark: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const last = endMark === '' ? noBytes : Buffer.from(endMark);
    const { finish } = this.#stream.options;
    if (finish === undefined) this.#end(last);
    else
      this.#stream.lastEvent = async () => {
        await this.#preparing;
        this.#end(await finish(last, this.#head));
      };
    this.#attempt.complete();
  }

  #end(last: Buffer): void {
    if (!this.#stream.hasBegun) this.#begin();
    const rest = this.#withHeld(last);
    if (rest.length > 0) this.#response.write(rest);
    this.#response.end();
  }

  #fail(failure: AttemptFailure): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#attempt.fail(failure);
  }
}
