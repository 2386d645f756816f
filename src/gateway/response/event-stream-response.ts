import type { AttemptFailure } from '#gateway/attempt/attempt-failure.ts';
import type { AttemptControl, BodyConsumer } from '#gateway/attempt/body-consumer.ts';
import { blankLine } from '#gateway/framing/sse-splitter.ts';
import type { StreamInterpreter } from '#gateway/framing/stream-interpreter.ts';
import { ClientStream } from './client-stream.ts';
import { errorEvent, errorOf } from './error-response.ts';
import { EventStreamConsumer } from './event-stream-consumer.ts';
import { JsonInsteadOfStream } from './json-instead-of-stream.ts';
import { isNamedJson, type ResponseHandler, type ResponseHead } from './response-handler.ts';
import type { EventStreamResponseOptions, SharedStream } from './shared-stream.ts';

/**
 * Passes a stream event by event, unchanged. Headers and events before the first content wait for it, so that another
 * attempt can replace an earlier failure.
 */
export class EventStreamResponse implements ResponseHandler, SharedStream {
  readonly options: EventStreamResponseOptions;
  readonly client: ClientStream;
  lastEvent: (() => Promise<void>) | null = null;
  readonly #texts: string[] = [];
  #interpreter: StreamInterpreter | null = null;
  #canContinue: boolean;

  constructor(options: EventStreamResponseOptions) {
    this.options = options;
    this.#canContinue = options.canContinue ?? false;
    this.client = new ClientStream(options.response, options.isHeldWhole ? null : (options.signOfLife ?? null));
  }

  get hasBegun(): boolean {
    return this.client.hasBegun;
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
    return new EventStreamConsumer(this, head, attempt, interpreter);
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

  beginPieces(): void {
    this.client.isInsideEvent = true;
    this.#canContinue = false;
  }

  endPieces(): void {
    this.client.isInsideEvent = false;
  }

  abort(failure: AttemptFailure): void {
    // What is translated is inside of an event only if the event of the error ends it.
    const isTranslated = this.#interpreter?.translated !== undefined;
    if (this.client.isInsideEvent && !isTranslated) this.options.response.write(blankLine);
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
}
