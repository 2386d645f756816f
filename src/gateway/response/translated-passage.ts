import type { SseBatch, SseEvent } from '#gateway/framing/sse-splitter.ts';
import {
  classifications,
  type EventClassification,
  type StreamInterpreter,
} from '#gateway/framing/stream-interpreter.ts';
import { type EventPassage, failureOf, type LastEvent } from './event-passage.ts';
import type { StreamAnswer } from './stream-answer.ts';

export class TranslatedPassage implements EventPassage {
  readonly held = 'holds-data';
  readonly #answer: StreamAnswer;
  readonly #interpreter: StreamInterpreter;
  readonly #translated: () => string;

  /** @param translated what the events since its last call became */
  constructor(answer: StreamAnswer, interpreter: StreamInterpreter, translated: () => string) {
    this.#answer = answer;
    this.#interpreter = interpreter;
    this.#translated = translated;
  }

  get hasMore(): boolean {
    return this.#interpreter.hasMore === true;
  }

  pass({ events }: SseBatch): void {
    // What they become may be kept, so there must be room for it before they are read.
    this.#answer.count(this.#interpreter.keptBytes + lengthOf(events));
    if (this.#answer.isOver || !this.#takeAll(events)) return;
    this.#send();
    if (events.some(({ data }) => data !== null)) this.#answer.markEnding();
  }

  passMore(): void {
    if (!this.#take(this.#interpreter.classifyMore?.() ?? classifications.noContent)) return;
    this.#send();
    this.#answer.markEnding();
  }

  note({ events }: SseBatch): void {
    if (!this.#takeAll(events)) return;
    // The client has the event as it came.
    this.#translated();
    this.#answer.markEnding();
  }

  /** @returns whether more events may follow */
  #takeAll(events: ReadonlyArray<SseEvent>): boolean {
    for (const { data } of events) if (!this.#take(this.#interpreter.classify(data))) return false;
    return true;
  }

  /** @returns whether more events may follow */
  #take(event: EventClassification): boolean {
    switch (event.kind) {
      case 'content':
        this.#answer.markContent();
        return true;
      case 'empty':
      case 'no-content':
      case 'gateway-only':
        return true;
      default:
        this.#conclude(event);
        return false;
    }
  }

  #send(): void {
    this.#answer.send(Buffer.from(this.#translated()));
    this.#answer.markInside(this.hasMore);
  }

  #conclude(event: LastEvent): void {
    this.#send();
    const failure = failureOf(event, this.#interpreter.canEnd);
    if (failure === null) this.#answer.finish();
    else this.#answer.fail(failure);
  }
}

function lengthOf(events: ReadonlyArray<SseEvent>): number {
  return events.reduce((sum, { data }) => sum + (data?.length ?? 0), 0);
}
