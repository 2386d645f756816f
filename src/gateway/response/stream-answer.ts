import { type AttemptFailure, malformed, unreadable } from '#gateway/attempt/attempt-failure.ts';
import type { AttemptControl } from '#gateway/attempt/body-consumer.ts';
import type { StreamInterpreter } from '#gateway/framing/stream-interpreter.ts';
import { nothingReported, type ReportedConsumption } from '#gateway/neutral/consumption.ts';
import { ClientPace } from './client-pace.ts';
import type { ClientStreamHead } from './client-stream.ts';
import { HeldEvents } from './held-events.ts';
import { createRelayedHeaders, type ResponseHead } from './response-handler.ts';
import type { SharedStream } from './shared-stream.ts';

const noBytes = Buffer.alloc(0);

/** How often the end of a translated answer repeats what was kept of it. */
const maxRepetitions = 5;

/** The answer of one attempt: held until it may begin, then written as fast as the client takes it. */
export class StreamAnswer {
  readonly held: HeldEvents;
  readonly pace: ClientPace;
  /** True if it continues the answer of another attempt. */
  readonly isContinuation: boolean;
  readonly #stream: SharedStream;
  readonly #head: ResponseHead;
  /** The head, made with the provider's headers, before any content. */
  readonly #clientHead: ClientStreamHead;
  readonly #attempt: AttemptControl;
  readonly #interpreter: StreamInterpreter;
  hasContent = false;
  /** Settles when the answer may begin; null before its first event, and if nothing is to be done for it. */
  #preparing: Promise<void> | null = null;
  #isPrepared: boolean;
  #hasBegun = false;
  isOver = false;
  /** Whether its end is being written. */
  isEnding = false;

  /** @param maxWindowBytes that the decompression of the stream keeps */
  constructor(
    stream: SharedStream,
    head: ResponseHead,
    attempt: AttemptControl,
    interpreter: StreamInterpreter,
    maxWindowBytes: number,
  ) {
    this.held = new HeldEvents(stream.options, interpreter, maxWindowBytes);
    this.pace = new ClientPace(attempt);
    this.isContinuation = stream.client.hasBegun;
    this.#stream = stream;
    this.#head = head;
    this.#clientHead = clientHeadOf(head);
    this.#attempt = attempt;
    this.#interpreter = interpreter;
    this.#isPrepared = head.keeping.beforeFirstByte === null;
  }

  get isPreparing(): boolean {
    return this.#preparing !== null && !this.#isPrepared;
  }

  get reported(): ReportedConsumption {
    return { tokens: this.#interpreter.tokens, audioSeconds: null };
  }

  /** Awaits content. If the target stays silent, its client gets the head without content. */
  awaitContent(): void {
    this.#stream.client.awaitContent(this.#clientHead, this.#head.earlyHeadMs);
  }

  /** Refuses the answer as soon as the attempt has its consumer. */
  refuse(): void {
    this.isOver = true;
    queueMicrotask(() => this.#attempt.fail(malformed));
  }

  markContent(): void {
    if (this.hasContent) return;
    this.hasContent = true;
    this.#stream.client.stopAwaiting();
    this.#attempt.markContent();
  }

  markEnding(): void {
    if (this.#interpreter.isFinished && !this.isOver) this.#attempt.markEnding();
  }

  send(bytes: Buffer): void {
    if (bytes.length === 0 || this.isOver) return;
    if (this.isEnding || (this.hasContent && this.#stream.client.hasBegun)) this.#write(bytes);
    else if (!this.isContinuation)
      this.#failIf(this.held.add(bytes, this.#stream.options.isHeldWhole || !this.hasContent));
  }

  /** @param keptBytes what the interpreter keeps, or what its end takes */
  count(keptBytes = this.#interpreter.keptBytes): void {
    if (!this.isOver) this.#failIf(this.held.count(keptBytes));
  }

  /**
   * The first content waits for the end of its turn. If a failure came with it, another target can still answer.
   * @returns settles when what must be done before is done: then it is called again; null if this call began nothing
   */
  writeFirst(): Promise<void> | null {
    if (!this.hasContent || this.held.isEmpty || this.isOver || this.#stream.options.isHeldWhole) return null;
    if (this.#isPrepared) this.#write(noBytes);
    else if (this.#preparing === null) {
      this.#preparing = this.#prepare();
      return this.#preparing;
    }
    return null;
  }

  /** Finishes with the end that the interpreter writes. A long end is passed in parts after this. */
  finish(): void {
    if (this.isEnding) return;
    const isPassed = this.#isPrepared && this.#head.keeping.beforeLastByte === null;
    if (this.#interpreter.beginEnd !== undefined && isPassed) this.#beginEnd();
    else this.#finishWhole();
  }

  #beginEnd(): void {
    const first = Buffer.from(this.#interpreter.beginEnd?.() ?? '');
    this.count(this.#interpreter.keptBytes + first.length);
    if (this.#interpreter.hasMore === true) {
      this.isEnding = true;
      this.send(first);
      this.markInside(true);
    } else if (!this.isOver) this.complete(first);
  }

  /** Finishes what is stored before the client has it, which is made as a whole. */
  #finishWhole(): void {
    const { keptBytes } = this.#interpreter;
    if (keptBytes > 0) this.count(maxRepetitions * keptBytes);
    if (!this.isOver) this.complete(Buffer.from(this.#interpreter.finish()));
  }

  /** @param isInside whether the client may have a part of an event, which nothing may interrupt */
  markInside(isInside: boolean): void {
    this.#stream.client.isInsideEvent = isInside;
  }

  complete(last: Buffer): void {
    const { beforeLastByte } = this.#head.keeping;
    if (beforeLastByte !== null) this.count(last.length);
    if (this.isOver) return;
    this.isOver = true;
    if (beforeLastByte === null) this.#end(last);
    else
      this.#stream.lastEvent = async () => {
        await this.#preparing;
        this.#end(await beforeLastByte(last));
      };
    this.#attempt.complete();
  }

  fail(failure: AttemptFailure): void {
    if (this.isOver) return;
    this.isOver = true;
    this.#attempt.fail(failure);
  }

  abort(): void {
    this.isOver = true;
    this.#stream.client.stopAwaiting();
    this.#stream.options.answerHold.resize(0);
  }

  async #prepare(): Promise<void> {
    this.#attempt.pause();
    try {
      const failure = (await this.#head.keeping.beforeFirstByte?.(this.held.all)) ?? null;
      this.#isPrepared = true;
      if (failure !== null) return this.fail(failure);
    } catch (error) {
      return this.fail(unreadable(error));
    }
    this.#attempt.resume();
  }

  #write(bytes: Buffer): void {
    if (!this.#hasBegun) this.#begin();
    this.#stream.client.write(this.#withHeld(bytes), this.pace);
  }

  /** Begins the answer. A continuation begins, too: its client gets the name of the target. */
  #begin(): void {
    this.#hasBegun = true;
    // The usage of an answer that is passed on as it arrives comes after its head.
    const reported = this.#stream.options.isHeldWhole ? this.reported : nothingReported;
    const { headers, ...others } = this.#clientHead;
    this.#stream.client.begin({ ...others, headers: [...headers, ...(this.#head.costHeader?.(reported) ?? [])] });
  }

  #end(last: Buffer): void {
    if (!this.#stream.client.hasBegun) this.#begin();
    const rest = this.#withHeld(last);
    this.#stream.options.answerHold.resize(0);
    this.#stream.client.end(rest);
  }

  #withHeld(bytes: Buffer): Buffer {
    if (this.held.isEmpty) return bytes;
    const all = this.held.takeWith(bytes);
    this.count();
    return all;
  }

  #failIf(failure: AttemptFailure | null): void {
    if (failure !== null) this.fail(failure);
  }
}

function clientHeadOf(head: ResponseHead): ClientStreamHead {
  const contentType = head.headers['content-type'] ?? '';
  // A proxy that buffers responses would undo the streaming.
  const headers = [...createRelayedHeaders(head, contentType), 'X-Accel-Buffering', 'no'];
  return { status: head.status, headers, servedBy: head.servedBy };
}
