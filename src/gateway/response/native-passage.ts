import type { SseBatch } from '#gateway/framing/sse-splitter.ts';
import type { StreamInterpreter } from '#gateway/framing/stream-interpreter.ts';
import { type EventPassage, failureOf, type LastEvent } from './event-passage.ts';
import type { StreamAnswer } from './stream-answer.ts';

/** Maximum size of events that say nothing. They may come for minutes, and fast, and are held before the content. */
const maxEmptyBytes = 16 * 1024;

const noBytes = Buffer.alloc(0);

export class NativePassage implements EventPassage {
  readonly held = 'holds-bytes';
  readonly hasMore = false;
  readonly #answer: StreamAnswer;
  readonly #interpreter: StreamInterpreter;
  #emptyBytes = 0;

  constructor(answer: StreamAnswer, interpreter: StreamInterpreter) {
    this.#answer = answer;
    this.#interpreter = interpreter;
  }

  pass({ bytes, events }: SseBatch): void {
    /** The start of the bytes that are not written yet. */
    let from = 0;
    let hasData = false;
    for (const { start, end, data } of events) {
      hasData ||= data !== null;
      const event = this.#interpreter.classify(data);
      if (event.kind === 'content' && !this.#answer.hasContent) {
        this.#answer.markContent();
        // The first attempt has already sent the events before the content.
        if (this.#answer.isContinuation) from = start;
      } else if (event.kind === 'gateway-only' || (event.kind === 'empty' && this.#isSurplus(end - start))) {
        this.#answer.send(bytes.subarray(from, start));
        from = end;
      } else if (event.kind !== 'empty' && event.kind !== 'no-content' && event.kind !== 'content') {
        this.#answer.send(bytes.subarray(from, start));
        this.#conclude(event, bytes.subarray(start, end));
        return;
      }
    }
    this.#answer.send(from === 0 ? bytes : bytes.subarray(from));
    if (hasData) this.#answer.markEnding();
  }

  /** Whether an event that says nothing is left out before the content, because enough of them are held. */
  #isSurplus(bytes: number): boolean {
    if (this.#answer.hasContent) return false;
    this.#emptyBytes += bytes;
    return this.#emptyBytes > maxEmptyBytes;
  }

  note(batch: SseBatch): void {
    this.pass(batch);
  }

  #conclude(event: LastEvent, bytes: Buffer): void {
    const failure = failureOf(event, this.#interpreter.canEnd);
    if (failure === null) {
      this.#answer.send(bytes);
      this.#answer.complete(noBytes);
    } else this.#answer.fail(failure);
  }
}
