import { answerShortageFailure, type ByteReservation } from '#exchange/byte-budget.ts';
import type { ResponseSink } from '#exchange/response-sink.ts';
import {
  type AttemptFailure,
  malformed,
  noRoom,
  refusalInBody,
  tooLarge,
  tooLargeEvent,
  unfinished,
  unreadable,
} from '#gateway/attempt/attempt-failure.ts';
import type { AttemptControl, BodyConsumer } from '#gateway/attempt/body-consumer.ts';
import { maxErrorValues, parseForeign, withoutByteOrderMark } from '#gateway/framing/foreign-json.ts';
import { GatheredBytes } from '#gateway/framing/gathered-bytes.ts';
import { outlineOf } from '#gateway/framing/large-event.ts';
import { type SseBatch, SseSplitter } from '#gateway/framing/sse-splitter.ts';
import { type EventClassification, maxKeptBytes, type StreamInterpreter } from '#gateway/framing/stream-interpreter.ts';
import { nothingReported, type ReportedConsumption } from '#gateway/neutral/consumption.ts';
import { providerErrorIn } from '#gateway/neutral/provider-report.ts';
import { maxWindowBytes } from '#gateway/transport/decompressed-stream.ts';
import { contentOf, isEventStream } from '#gateway/transport/transport.ts';
import { EventLoopBudget, heavyWork, largeBodyBytes } from '#shared/async/event-loop-budget.ts';
import { runFor } from '#shared/async/fair-queue.ts';
import { isObject, type JsonObject } from '#shared/json/json.ts';
import { ClientStream, type StreamHead } from './client-stream.ts';
import { errorEvent, errorOf, type RefusedCall } from './error-response.ts';
import { OpenLargeEvent } from './open-large-event.ts';
import {
  createResponseHeaders,
  type FinishAnswer,
  isNamedJson,
  type PrepareAnswer,
  type ResponseHandler,
  type ResponseHead,
} from './response-handler.ts';

export interface EventStreamResponseOptions {
  readonly response: ResponseSink;
  /** The call that it answers, for the error in a broken stream. */
  readonly call: RefusedCall;
  /** Counts the bytes that are held. */
  readonly answerHold: ByteReservation;
  /** Makes the interpreter for the events of one attempt. */
  readonly createInterpreter: (head: ResponseHead) => StreamInterpreter;
  /** Whether the answer is held until it is complete. */
  readonly isHeldWhole: boolean;
  /** Whether another target may continue the text so far. Default: false. */
  readonly canContinue?: boolean;
  /** The bytes of the request that its first and last events repeat. Default: 0. */
  readonly repeatedBytes?: number;
  /** What the client gets in silence. Missing if nothing is sent before the content, and in its gaps. */
  readonly signOfLife?: string;
  /** Makes the events of a stream that fails before its first content; null or missing if the form of errors has them. */
  readonly failedStream?: (error: JsonObject) => string | null;
  /** Missing if nothing is to be done before the first event is sent. */
  readonly prepare?: PrepareAnswer;
  /** Missing if the last event is sent when it comes. */
  readonly finish?: FinishAnswer;
}

/** Maximum bytes that are held before the first content, in addition to what repeats the request. */
const maxHeldBytes = 1024 * 1024;
const maxWholeBytes = 16 * 1024 * 1024;

/** The events that repeat a request before the first content: `response.created`, `queued` and `in_progress`. */
const repeatingEvents = 3;
/** A provider may write a character of the request as an escape, which takes up to three times its bytes. */
const escapedBytes = 3;
/** Maximum bytes of the repetition in one event. */
const maxRepeatedBytes = 8 * 1024 * 1024;

/** How often the end of a translated answer repeats what was kept of it. */
const maxRepetitions = 5;

/**
 * Maximum bytes of events, of all streams, that are read in one turn of the event loop. More in one stream are a large
 * event, or many, and count as heavy work.
 */
const maxBytesOfTurn = 4 * largeBodyBytes;
const eventWork = new EventLoopBudget(maxBytesOfTurn);

const noBytes = Buffer.alloc(0);
const blankLine = Buffer.from('\n\n');

/**
 * Passes a stream on event by event, unchanged. Headers and events before the first content wait for it, so that
 * another attempt can replace an earlier failure.
 */
export class EventStreamResponse implements ResponseHandler {
  readonly options: EventStreamResponseOptions;
  readonly client: ClientStream;
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
    this.client = new ClientStream(options.response, options.isHeldWhole ? null : (options.signOfLife ?? null));
  }

  get hasHead(): boolean {
    return this.client.hasHead;
  }

  get isAwaitingUsage(): boolean {
    return this.#interpreter?.isFinished === true && this.#interpreter.tokens === null;
  }

  receive(head: ResponseHead, attempt: AttemptControl): BodyConsumer {
    this.client.isInsideEvent = false;
    if (isNamedJson(head)) return new JsonInsteadOfStream(head, attempt);
    const interpreter = head.translator?.interpret?.() ?? this.options.createInterpreter(head);
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

  /** Begins an event that passes in pieces. Its text is not kept, so no other target can continue it. */
  beginPieces(): void {
    this.client.isInsideEvent = true;
    this.#canContinue = false;
  }

  endPieces(): void {
    this.client.isInsideEvent = false;
  }

  abort(failure: AttemptFailure): void {
    if (this.client.isInsideEvent) this.options.response.write(blankLine);
    this.client.end(this.#errorEventOf(failure) ?? errorEvent(failure, this.options.call));
  }

  close(): void {
    this.client.close();
  }

  /** The error's event after those that were sent; null if it does not depend on them. */
  #errorEventOf(failure: AttemptFailure): string | null {
    const { call, failedStream } = this.options;
    try {
      const error = errorOf(failure, call);
      return (this.hasBegun ? this.#interpreter?.errorEvent?.(error) : failedStream?.(error)) ?? null;
    } catch {
      return null;
    }
  }

  /** Maximum bytes that repeat the request before the first content. The gateway's own events may be longer. */
  get maxRepeatedBefore(): number {
    const { repeatedBytes = 0 } = this.options;
    return repeatingEvents * Math.max(Math.min(maxRepeatedBytes, escapedBytes * repeatedBytes), repeatedBytes);
  }
}

/** Reads JSON that came instead of a stream. It may contain the reason. */
class JsonInsteadOfStream implements BodyConsumer {
  readonly #head: ResponseHead;
  readonly #attempt: AttemptControl;
  readonly #gathered = new GatheredBytes();

  constructor(head: ResponseHead, attempt: AttemptControl) {
    this.#head = head;
    this.#attempt = attempt;
  }

  onData(chunk: Buffer): void {
    this.#gathered.add(chunk);
    if (this.#gathered.length > maxHeldBytes) this.#attempt.fail(malformed);
  }

  onEnd(): void {
    const content = contentOf(this.#head.headers, this.#gathered.bytes, maxHeldBytes);
    const value = content === null ? null : parseForeign(withoutByteOrderMark(content), maxErrorValues);
    const error = isObject(value) ? providerErrorIn(value) : null;
    this.#attempt.fail(error === null ? malformed : refusalInBody(error));
  }
}

/** The stream of one attempt. */
class StreamConsumer implements BodyConsumer {
  readonly #stream: EventStreamResponse;
  readonly #client: ClientStream;
  /** The head of the answer that it begins. It is made with the provider's headers, before any content. */
  readonly #clientHead: StreamHead;
  readonly #head: ResponseHead;
  readonly #attempt: AttemptControl;
  readonly #interpreter: StreamInterpreter;
  readonly #splitter = new SseSplitter();
  /** The large event that has begun; null for none. */
  #large: OpenLargeEvent | null = null;
  /** Whether the client is slower than what was written. */
  #isBehind = false;
  #whenDrained: (() => void) | null = null;
  /** The bytes of large events that are held: they have a limit of their own. */
  #heldLargeBytes = 0;
  readonly #maxWindowBytes: number;
  /** What the decompression of the stream keeps of it. */
  #windowBytes = 0;
  /** Whether it continues the answer of another attempt. */
  readonly #isContinuation: boolean;
  #arrived: Buffer[] = [];
  #held: Buffer[] = [];
  #heldBytes = 0;
  /** Whether what has arrived waits for a turn of the event loop. */
  #isWaiting = false;
  /** Whether the provider's response ended while events waited. */
  #hasEnded = false;
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
    this.#client = stream.client;
    // A proxy that buffers responses would undo the streaming.
    const headers = [...createResponseHeaders(head, contentType), 'X-Accel-Buffering', 'no'];
    this.#clientHead = { status: head.status, headers, servedBy: head.servedBy };
    this.#head = head;
    this.#attempt = attempt;
    this.#interpreter = interpreter;
    this.#isContinuation = stream.hasBegun;
    this.#isPrepared = stream.options.prepare === undefined;
    const windowBytes = maxWindowBytes(head.headers);
    this.#maxWindowBytes = windowBytes ?? 0;
    if (isEventStream(head.headers) && windowBytes !== null) {
      this.#client.awaitContent(this.#clientHead, head.earlyHeadMs);
      return;
    }
    this.#isOver = true;
    queueMicrotask(() => attempt.fail(malformed));
  }

  reported(): ReportedConsumption {
    return { tokens: this.#interpreter.tokens, audioSeconds: null };
  }

  /** Reads and writes all events of a piece together. */
  onData(chunk: Buffer): void {
    if (this.#isWaiting) this.#attempt.pause();
    this.#windowBytes = Math.min(this.#maxWindowBytes, this.#windowBytes + chunk.length);
    if (this.#arrived.push(chunk) === 1) queueMicrotask(this.#flush);
  }

  onEnd(): void {
    this.#take();
    if (this.#isWaiting) this.#hasEnded = true;
    else this.#finish();
  }

  onAbort(): void {
    try {
      this.#read(false);
      // The answer is complete, so the end of the connection does not matter.
      if (!this.#isOver && this.#interpreter.isFinished) this.#complete('finish');
    } finally {
      this.#isOver = true;
      this.#client.stopAwaiting();
      this.#stream.options.answerHold.resize(0);
    }
  }

  #finish(): void {
    if (this.#isOver) return;
    if (this.#large === null) this.#pass(this.#splitter.finish());
    else this.#endLarge(this.#large, blankLine);
    if (this.#isOver) return;
    if (this.#interpreter.isFinished) this.#complete('finish');
    else this.#fail(unfinished);
  }

  readonly #flush = (): void => {
    try {
      this.#take();
      this.#writeFirst();
    } catch (error) {
      this.#fail(unreadable(error));
    }
  };

  /** The first content waits for the end of its turn. If a failure came with it, another target can still answer. */
  #writeFirst(): void {
    if (!this.#hasContent || this.#held.length === 0 || this.#isOver || this.#stream.options.isHeldWhole) return;
    if (this.#isPrepared) this.#write(noBytes);
    else this.#preparing ??= this.#prepare();
  }

  async #prepare(): Promise<void> {
    this.#attempt.pause();
    try {
      const failure = await this.#stream.options.prepare?.(Buffer.concat(this.#held), this.#head);
      this.#isPrepared = true;
      if (failure !== undefined && failure !== null) return this.#fail(failure);
    } catch (error) {
      return this.#fail(unreadable(error));
    }
    this.#attempt.resume();
    this.#flush();
  }

  /** Reads what has arrived, if this turn of the event loop has not read too much of all streams. */
  #take(): void {
    if (this.#isWaiting || this.#arrived.length === 0 || this.#isOver) return;
    const bytes = this.#arrived.reduce((sum, { length }) => sum + length, this.#splitter.heldBytes);
    const isLarge = bytes > maxBytesOfTurn;
    if (!isLarge && eventWork.canBegin) {
      eventWork.spend(bytes);
      this.#read(true);
      return;
    }
    this.#waitFor(() => (isLarge ? heavyWork.take(1) : eventWork.take(bytes)));
  }

  #waitFor(turn: () => Promise<void>): void {
    this.#isWaiting = true;
    void runFor(this.#stream.options.answerHold.projectId, turn).then(this.#continue);
  }

  readonly #continue = (): void => {
    this.#isWaiting = false;
    try {
      this.#read(false);
      this.#writeFirst();
      if (this.#isOver || this.#isWaiting) return;
      // More may arrive while reading resumes.
      if (this.#hasEnded) this.#finish();
      else if (this.#preparing === null || this.#isPrepared) this.#attempt.resume();
    } catch (error) {
      this.#fail(unreadable(error));
    }
  };

  /** @param canWait whether a large event that was held waits for a turn of its own */
  #read(canWait: boolean): void {
    if (this.#interpreter.hasMore === true && !this.#isOver) this.#passMore();
    if (this.#interpreter.hasMore === true) return;
    let bytes = this.#takeArrived();
    while (!this.#isOver) {
      if (this.#large !== null) bytes = this.#readLarge(this.#large, bytes, canWait);
      if (bytes.length === 0 || this.#isOver) return;
      this.#pass(this.#splitter.push(bytes));
      if (this.#isOver || !this.#splitter.isOverflown) return;
      bytes = this.#openLarge();
    }
  }

  #takeArrived(): Buffer {
    const [first = noBytes] = this.#arrived;
    const bytes = this.#arrived.length > 1 ? Buffer.concat(this.#arrived) : first;
    this.#arrived = [];
    return bytes;
  }

  /** Decides what is done with an event that is large. @returns its beginning */
  #openLarge(): Buffer {
    const beginning = this.#splitter.takeBeginning();
    const outline = outlineOf(beginning);
    if (outline === '') this.#fail(tooLarge);
    const kind = this.#interpreter.peek?.(outline) ?? null;
    if (kind === 'content') this.#markContent();
    const passes = kind !== null && this.#hasContent;
    const held = this.#interpreter.translated === undefined ? 'holds-bytes' : 'holds-data';
    const { maxProjectBytes } = this.#stream.options.answerHold;
    this.#large = new OpenLargeEvent(passes ? 'passes' : held, maxProjectBytes);
    if (passes) this.#stream.beginPieces();
    return beginning;
  }

  /** @returns the bytes after the event; none until it ends */
  #readLarge(large: OpenLargeEvent, bytes: Buffer, canWait: boolean): Buffer {
    const rest = large.isComplete ? bytes : this.#takeLarge(large, bytes);
    if (this.#isOver || !large.isComplete) return noBytes;
    if (canWait && large.isHeld) {
      this.#attempt.pause();
      this.#waitFor(() => heavyWork.take(1));
    } else {
      this.#endLarge(large, noBytes);
      if (this.#interpreter.hasMore !== true) return rest;
    }
    if (rest.length > 0) this.#arrived.unshift(rest);
    return noBytes;
  }

  #takeLarge(large: OpenLargeEvent, bytes: Buffer): Buffer {
    if (large.isHeld && !this.#canHold(large, bytes.length)) return noBytes;
    const length = large.take(bytes);
    if (!large.isHeld) this.#send(bytes.subarray(0, length));
    if (large.isTooLarge) this.#fail(tooLarge);
    if (!this.#isOver) this.#count(this.#heldBytes + this.#interpreter.keptBytes);
    return bytes.subarray(length);
  }

  /** Counts what is about to be held of a large event. */
  #canHold({ heldBytes }: OpenLargeEvent, bytes: number): boolean {
    const { answerHold } = this.#stream.options;
    const shortage = answerHold.take(bytes);
    if (shortage === null) return true;
    if (shortage === 'project' && heldBytes + bytes > answerHold.maxProjectBytes)
      this.#fail(tooLargeEvent(answerHold.maxProjectBytes));
    else this.#fail({ kind: 'here', failure: answerShortageFailure(shortage) });
    return false;
  }

  /** @param missing what of its end has not come */
  #endLarge(large: OpenLargeEvent, missing: Buffer): void {
    const { batch, way } = large;
    this.#large = null;
    if (way === 'passes') {
      this.#send(missing);
      this.#stream.endPieces();
      this.#passOn(batch);
      // The event has passed as it came.
      this.#interpreter.translated?.();
    } else if (way === 'holds-bytes') {
      this.#heldLargeBytes += batch.bytes.length;
      this.#count(this.#heldBytes + this.#interpreter.keptBytes);
      const bytes = missing.length === 0 ? batch.bytes : Buffer.concat([batch.bytes, missing]);
      this.#pass({ bytes, events: batch.events.map((event) => ({ ...event, end: bytes.length })) });
    } else {
      this.#pass(batch);
      this.#waitForMore();
    }
  }

  /** The rest of what a large event became is written in turns, as fast as the client takes it. */
  #waitForMore(): void {
    if (this.#isOver || this.#interpreter.hasMore !== true) return;
    this.#attempt.pause();
    this.#waitFor(async () => {
      if (this.#isBehind) await new Promise<void>((resolve) => (this.#whenDrained = resolve));
      await heavyWork.take(1);
    });
  }

  #passMore(): void {
    const { translated, classifyMore } = this.#interpreter;
    if (translated === undefined || classifyMore === undefined) return;
    if (this.#takeTranslated(classifyMore.call(this.#interpreter), translated)) this.#sendTranslated(translated);
    if (!this.#isOver) this.#count(this.#heldBytes + this.#interpreter.keptBytes);
    this.#waitForMore();
  }

  #pass(batch: SseBatch): void {
    const { translated } = this.#interpreter;
    if (translated === undefined) this.#passOn(batch);
    else this.#passTranslated(batch, translated);
    if (batch.events.length > 0 && !this.#hasContent) this.#attempt.markAlive(this.#interpreter.hasBegun);
    if (!this.#isOver) this.#count(this.#heldBytes + this.#interpreter.keptBytes);
  }

  /** Counts what is held here and what the interpreter keeps, and what the decompression does. */
  #count(held: number): void {
    const { answerHold } = this.#stream.options;
    const bytes = held + this.#windowBytes + (this.#large?.keptBytes ?? 0);
    if (bytes <= answerHold.bytes) answerHold.resize(bytes);
    else if (this.#interpreter.keptBytes > (this.#interpreter.maxKeptBytes ?? maxKeptBytes)) this.#fail(tooLarge);
    else if (!answerHold.takeBegun(bytes - answerHold.bytes)) this.#fail(noRoom);
  }

  #passTranslated({ events }: SseBatch, translated: () => string): void {
    let hasData = false;
    for (const { data } of events) {
      hasData ||= data !== null;
      if (!this.#takeTranslated(this.#interpreter.classify(data), translated)) return;
    }
    this.#sendTranslated(translated, hasData);
  }

  /** @returns whether more events may follow */
  #takeTranslated(event: EventClassification, translated: () => string): boolean {
    if (event.kind === 'content') this.#markContent();
    else if (event.kind !== 'no-content' && event.kind !== 'gateway-only') {
      this.#send(Buffer.from(translated()));
      this.#conclude(event, noBytes);
      return false;
    }
    return true;
  }

  #sendTranslated(translated: () => string, hasData = true): void {
    this.#send(Buffer.from(translated()));
    if (hasData && this.#interpreter.isFinished && !this.#isOver) this.#attempt.markEnding();
  }

  #markContent(): void {
    if (this.#hasContent) return;
    this.#hasContent = true;
    this.#client.stopAwaiting();
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
  #conclude(
    event: Extract<EventClassification, { kind: 'end' | 'malformed' | 'too-large' | 'error' }>,
    bytes: Buffer,
  ): void {
    if (event.kind === 'error') this.#fail(refusalInBody(event.error));
    else if (event.kind === 'malformed') this.#fail(malformed);
    else if (event.kind === 'too-large') this.#fail(tooLarge);
    else if (!this.#interpreter.canEnd) this.#fail(unfinished);
    else {
      this.#send(bytes);
      this.#complete(this.#interpreter.translated === undefined ? 'passed' : 'finish');
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
    const maxSmallBytes = (isHeldWhole ? maxWholeBytes : maxHeldBytes) + this.#stream.maxRepeatedBefore;
    const maxBytes = maxSmallBytes + this.#heldLargeBytes;
    if (isWaiting && this.#heldBytes > maxBytes) this.#fail(tooLarge);
    else if (!this.#stream.options.answerHold.takeBegun(bytes.length)) this.#fail(noRoom);
  }

  #write(bytes: Buffer): void {
    if (!this.#stream.hasBegun) this.#begin();
    this.#client.write(this.#withHeld(bytes), this.#pace);
  }

  /** What follows from how fast the client is. */
  readonly #pace: Pick<AttemptControl, 'pause' | 'resume'> = {
    pause: () => {
      this.#isBehind = true;
      this.#attempt.pause();
    },
    resume: () => {
      this.#isBehind = false;
      this.#attempt.resume();
      this.#whenDrained?.();
      this.#whenDrained = null;
    },
  };

  #withHeld(bytes: Buffer): Buffer {
    if (this.#held.length === 0) return bytes;
    const [first = noBytes] = this.#held;
    const all = this.#held.length === 1 && bytes.length === 0 ? first : Buffer.concat([...this.#held, bytes]);
    this.#held = [];
    this.#heldBytes = 0;
    this.#count(this.#interpreter.keptBytes);
    return all;
  }

  #begin(): void {
    this.#stream.hasBegun = true;
    // The usage of an answer that is passed on as it arrives comes after its head.
    const reported = this.#stream.options.isHeldWhole ? this.reported() : nothingReported;
    const { headers, ...others } = this.#clientHead;
    this.#client.begin({ ...others, headers: [...headers, ...(this.#head.costHeader?.(reported) ?? [])] });
  }

  /** @param end `passed` if the provider's own end has passed; `finish` if the interpreter writes one */
  #complete(end: 'passed' | 'finish'): void {
    const { keptBytes } = this.#interpreter;
    if (end === 'finish' && keptBytes > 0) this.#count(this.#heldBytes + maxRepetitions * keptBytes);
    if (this.#isOver) return;
    const last = end === 'passed' ? noBytes : Buffer.from(this.#interpreter.finish());
    const { finish } = this.#stream.options;
    if (finish !== undefined) this.#count(this.#heldBytes + last.length);
    if (this.#isOver) return;
    this.#isOver = true;
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
    this.#stream.options.answerHold.resize(0);
    this.#client.end(rest);
  }

  #fail(failure: AttemptFailure): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#attempt.fail(failure);
  }
}
