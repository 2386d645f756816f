import { unfinished, unreadable } from '#gateway/attempt/attempt-failure.ts';
import type { AttemptControl, BodyConsumer } from '#gateway/attempt/body-consumer.ts';
import { blankLine, type SseBatch, SseSplitter } from '#gateway/framing/sse-splitter.ts';
import type { StreamInterpreter } from '#gateway/framing/stream-interpreter.ts';
import type { ReportedConsumption } from '#gateway/neutral/consumption.ts';
import { maxPartBytes } from '#gateway/protocols/neutral-stream.ts';
import { maxWindowBytes } from '#gateway/transport/decompressed-stream.ts';
import { isEventStream } from '#gateway/transport/transport.ts';
import { ArrivedBytes } from './arrived-bytes.ts';
import type { EventPassage } from './event-passage.ts';
import { LargeEvents } from './large-events.ts';
import { NativePassage } from './native-passage.ts';
import type { OpenLargeEvent } from './open-large-event.ts';
import type { ResponseHead } from './response-handler.ts';
import type { SharedStream } from './shared-stream.ts';
import { StreamAnswer } from './stream-answer.ts';
import { TranslatedPassage } from './translated-passage.ts';

const noBytes = Buffer.alloc(0);

export class EventStreamConsumer implements BodyConsumer {
  readonly #attempt: AttemptControl;
  readonly #interpreter: StreamInterpreter;
  readonly #arrived: ArrivedBytes;
  readonly #splitter = new SseSplitter();
  readonly #largeEvents: LargeEvents;
  #large: OpenLargeEvent | null = null;
  readonly #passage: EventPassage;
  readonly #answer: StreamAnswer;
  /** Whether the provider's response ended while events waited. */
  #hasEnded = false;
  /** Whether nothing may wait any more. */
  #isAborted = false;

  constructor(stream: SharedStream, head: ResponseHead, attempt: AttemptControl, interpreter: StreamInterpreter) {
    const windowBytes = maxWindowBytes(head.headers);
    const answer = new StreamAnswer(stream, head, attempt, interpreter, windowBytes ?? 0);
    this.#attempt = attempt;
    this.#interpreter = interpreter;
    this.#arrived = new ArrivedBytes(stream.options.answerHold.projectId, () => this.#continue());
    this.#passage = passageOf(answer, interpreter);
    this.#largeEvents = new LargeEvents(stream, answer, interpreter, this.#passage);
    this.#answer = answer;
    if (isEventStream(head.headers) && windowBytes !== null) answer.awaitContent();
    else answer.refuse();
  }

  reported(): ReportedConsumption {
    return this.#answer.reported;
  }

  /** Reads and writes all events of a piece together. */
  onData(chunk: Buffer): void {
    if (this.#arrived.isWaiting) this.#attempt.pause();
    this.#answer.held.extendWindow(chunk.length);
    if (this.#arrived.isEmpty) queueMicrotask(this.#flush);
    this.#arrived.add(chunk);
  }

  onEnd(): void {
    this.#take();
    if (this.#arrived.isWaiting) this.#hasEnded = true;
    else this.#finish();
  }

  onAbort(): void {
    this.#isAborted = true;
    try {
      this.#readAll();
      // The answer is complete, so the end of the connection does not matter.
      if (!this.#answer.isOver && this.#interpreter.isFinished) this.#answer.finish();
      this.#readAll();
    } finally {
      this.#answer.abort();
    }
  }

  readonly #flush = (): void => {
    try {
      this.#take();
      this.#markAlive();
      this.#writeFirst();
    } catch (error) {
      this.#answer.fail(unreadable(error));
    }
  };

  /** Called in the turn for which arrived bytes have waited. */
  #continue(): void {
    try {
      this.#read(false);
      this.#markAlive();
      this.#writeFirst();
      if (this.#answer.isOver || this.#arrived.isWaiting) return;
      // More may arrive while reading resumes.
      if (this.#hasEnded) this.#finish();
      else if (!this.#answer.isPreparing && !this.#answer.pace.isBehind) this.#attempt.resume();
    } catch (error) {
      this.#answer.fail(unreadable(error));
    }
  }

  /**
   * Marks the target as alive. Whatever arrives proves that it works, also a line of an event or a piece of a large
   * one.
   */
  #markAlive(): void {
    if (!this.#answer.hasContent && !this.#answer.isOver) this.#attempt.markAlive(this.#interpreter.hasBegun);
  }

  #writeFirst(): void {
    void this.#answer.writeFirst()?.then(this.#flush);
  }

  #finish(): void {
    if (this.#answer.isOver) return;
    if (this.#large === null) this.#pass(this.#splitter.finish());
    else this.#endLarge(this.#large, blankLine);
    if (this.#answer.isOver) return;
    if (this.#arrived.isWaiting) this.#hasEnded = true;
    else if (!this.#interpreter.isFinished) this.#answer.fail(unfinished);
    else {
      this.#answer.finish();
      this.#waitForMore();
    }
  }

  #readAll(): void {
    do this.#read(false);
    while (this.#passage.hasMore && !this.#answer.isOver);
  }

  #take(): void {
    if (this.#arrived.isWaiting || this.#arrived.isEmpty || this.#answer.isOver) return;
    if (this.#arrived.takeTurn(this.#splitter.heldBytes)) this.#read(true);
  }

  /** @param canWait whether a large event that was held waits for a turn of its own */
  #read(canWait: boolean): void {
    if (this.#passage.hasMore && !this.#answer.isOver) this.#passMore();
    if (this.#passage.hasMore) return;
    let bytes = this.#arrived.take();
    while (!this.#answer.isOver) {
      if (this.#large !== null) bytes = this.#readLarge(this.#large, bytes, canWait);
      if (bytes.length === 0 || this.#answer.isOver) return;
      this.#pass(this.#splitter.push(bytes));
      if (this.#answer.isOver || this.#passage.hasMore || !this.#splitter.isOverflown) return;
      bytes = this.#splitter.takeBeginning();
      this.#large = this.#largeEvents.open(bytes);
    }
  }

  /** @returns the bytes after the event; none until it ends */
  #readLarge(large: OpenLargeEvent, bytes: Buffer, canWait: boolean): Buffer {
    const rest = this.#largeEvents.take(large, bytes);
    if (this.#answer.isOver || !large.isComplete) return noBytes;
    if (canWait && large.isHeld) {
      this.#attempt.pause();
      this.#arrived.waitUntil(this.#arrived.turnOf(large.heldBytes));
    } else {
      this.#endLarge(large, noBytes);
      if (!this.#passage.hasMore) return rest;
    }
    this.#arrived.putBack(rest);
    return noBytes;
  }

  /** @param missing what of its end has not come */
  #endLarge(large: OpenLargeEvent, missing: Buffer): void {
    this.#large = null;
    const batch = this.#largeEvents.end(large, missing);
    if (batch !== null) this.#pass(batch);
  }

  #pass(batch: SseBatch): void {
    this.#passage.pass(batch);
    this.#answer.count();
    this.#waitForMore();
  }

  #passMore(): void {
    this.#passage.passMore?.();
    this.#answer.count();
    if (this.#answer.isEnding && !this.#passage.hasMore) this.#answer.complete(noBytes);
    this.#waitForMore();
  }

  /** Waits to write the rest of what events became, or of the end: in turns, as fast as the client takes it. */
  #waitForMore(): void {
    if (this.#isAborted || this.#answer.isOver || !this.#passage.hasMore) return;
    this.#attempt.pause();
    this.#arrived.waitUntil(this.#nextPart());
  }

  async #nextPart(): Promise<void> {
    await this.#answer.pace.drained();
    await this.#arrived.turnOf(maxPartBytes);
  }
}

function passageOf(answer: StreamAnswer, interpreter: StreamInterpreter): EventPassage {
  const { translated } = interpreter;
  return translated === undefined
    ? new NativePassage(answer, interpreter)
    : new TranslatedPassage(answer, interpreter, translated);
}
