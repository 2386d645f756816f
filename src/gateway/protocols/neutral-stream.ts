import { maxSplitBytes } from '#gateway/framing/sse-splitter.ts';
import {
  classifications,
  type EventClassification,
  maxKeptBytes,
  type StreamInterpreter,
} from '#gateway/framing/stream-interpreter.ts';
import type { AnswerEvent, AnswerReader, AnswerWriter } from '#gateway/neutral/answer-event.ts';
import type { ArgumentRules } from '#gateway/neutral/call-arguments.ts';
import type { Tokens } from '#gateway/neutral/consumption.ts';
import { OrderedAnswer } from '#gateway/neutral/ordered-answer.ts';
import { isLongText, textPieces } from '#gateway/neutral/text-pieces.ts';
import { KeptText } from './kept-text.ts';

const { noContent, content, end, malformed, tooLarge } = classifications;

/** The kinds of events that are more than the beginning of an answer. */
const contentKinds: ReadonlySet<AnswerEvent['kind']> = new Set([
  'text',
  'refusal',
  'reasoning',
  'signature',
  'tool-call',
  'arguments',
  'finished',
]);

/** True for content. An empty piece is only a sign of life. */
function isContent(event: AnswerEvent): boolean {
  return contentKinds.has(event.kind) && !('text' in event && event.text === '');
}

/** True if nothing is read after the event. */
function isLast({ kind }: EventClassification): boolean {
  return kind !== 'content' && kind !== 'no-content';
}

/** How often a text is kept together: by the writer of Responses, and in the three events that end a free text. */
const maxCopies = 4;

/** A stream in the neutral form, in which all protocols have one meaning. */
export class NeutralStream implements StreamInterpreter {
  hasBegun = false;
  isFinished = false;
  tokens: Tokens | null = null;
  readonly #reader: AnswerReader;
  readonly #endMark: string;
  readonly #text: KeptText;
  /** The size of large events so far. The budget of answers bounds it. */
  #largeBytes = 0;
  /** The limit after the latest event. */
  maxKeptBytes = maxKeptBytes;

  /**
   * @param endMark what ends a finished stream that ended without its last event
   * @param keepsText whether the text is kept, so that another target can continue it
   */
  constructor(reader: AnswerReader, endMark: string, keepsText: boolean) {
    this.#reader = reader;
    this.#endMark = endMark;
    this.#text = new KeptText(keepsText);
  }

  get canEnd(): boolean {
    return this.isFinished;
  }

  get text(): string | null {
    return this.#text.value;
  }

  get keptBytes(): number {
    return this.#text.bytes + this.#reader.keptBytes;
  }

  finish(): string {
    return this.#endMark;
  }

  classify(data: string | null): EventClassification {
    // A large event becomes large ones, and the end of its part repeats them.
    const bytes = data?.length ?? 0;
    const isLarge = bytes > maxSplitBytes;
    this.maxKeptBytes = maxKeptBytes + maxCopies * (this.#largeBytes + bytes);
    if (isLarge) this.#largeBytes += bytes;
    return isLarge ? this.classifyLarge(this.readLarge(data)) : this.classifyAll(this.read(data));
  }

  /** Reads a large event. Long texts may come in pieces. */
  protected readLarge(data: string | null): Iterable<AnswerEvent> {
    return this.read(data);
  }

  protected classifyLarge(events: Iterable<AnswerEvent>): EventClassification {
    return this.classifyAll(events);
  }

  protected classifyAll(events: Iterable<AnswerEvent>): EventClassification {
    let classification: EventClassification = noContent;
    for (const event of events) {
      const taken = this.classifyEvent(event);
      if (isLast(taken)) return taken;
      if (taken === content) classification = content;
    }
    // What waits has become nothing for the client yet.
    return this.keepsTooMuch ? tooLarge : classification;
  }

  protected classifyEvent(event: AnswerEvent): EventClassification {
    this.take(event);
    if (event.kind === 'malformed') return malformed;
    if (event.kind === 'too-large' || this.keepsTooMuch) return tooLarge;
    if (event.kind === 'error') return event;
    if (event.kind === 'end') return end;
    return isContent(event) ? content : noContent;
  }

  protected get keepsTooMuch(): boolean {
    return this.keptBytes > this.maxKeptBytes;
  }

  protected read(data: string | null): ReadonlyArray<AnswerEvent> {
    return this.#reader.read(data);
  }

  protected take(event: AnswerEvent): void {
    this.hasBegun ||= event.kind === 'part-start' || isContent(event);
    if (event.kind === 'finished') this.isFinished = true;
    else if (event.kind === 'usage') this.tokens = event.tokens;
    else if (event.kind === 'text') this.#text.add(event.text);
    else if (contentKinds.has(event.kind)) this.#text.drop();
  }
}

/** Maximum size of a part of a large event in one turn of the event loop, without the last piece. */
export const maxPartBytes = 128 * 1024;

export class TranslatedStream extends NeutralStream {
  readonly #order: OrderedAnswer;
  readonly #writer: AnswerWriter;
  #written: string[] = [];
  #writtenBytes = 0;
  #rest: Iterator<AnswerEvent> | null = null;

  constructor(reader: AnswerReader, writer: AnswerWriter, rules: ArgumentRules, keepsText: boolean) {
    super(reader, '', keepsText);
    this.#order = new OrderedAnswer(rules);
    this.#writer = writer;
  }

  protected override classifyLarge(events: Iterable<AnswerEvent>): EventClassification {
    this.#rest = events[Symbol.iterator]();
    return this.classifyMore();
  }

  get hasMore(): boolean {
    return this.#rest !== null || this.#hasMoreWritten;
  }

  get #hasMoreWritten(): boolean {
    return this.#writer.hasMore === true;
  }

  classifyMore(): EventClassification {
    if (this.#hasMoreWritten) {
      this.#add(this.#writer.more?.() ?? '');
      return noContent;
    }
    const rest = this.#rest;
    this.#rest = null;
    let classification: EventClassification = noContent;
    for (let next = rest?.next(); next?.done === false; next = rest?.next()) {
      const taken = this.classifyEvent(next.value);
      if (isLast(taken)) return taken;
      if (taken === content) classification = content;
      if (this.#writtenBytes < maxPartBytes && !this.#hasMoreWritten) continue;
      this.#rest = rest;
      return classification;
    }
    return this.keepsTooMuch ? tooLarge : classification;
  }

  /** What the events since the last call became for the client. */
  readonly translated = (): string => {
    const [only] = this.#written;
    const written = this.#written.length === 1 && only !== undefined ? only : this.#written.join('');
    this.#written = [];
    this.#writtenBytes = 0;
    return written;
  };

  /**
   * The kept bytes. A small event may become a large one. What the beginning repeats of the request is the client's.
   */
  override get keptBytes(): number {
    return super.keptBytes + this.#order.keptBytes + this.#writer.keptBytes + this.#writtenBytes;
  }

  /** Most events of a provider say one thing. */
  protected override read(data: string | null): ReadonlyArray<AnswerEvent> {
    const events = super.read(data);
    const [first] = events;
    if (first !== undefined && events.length === 1) return this.#order.take(first);
    return events.flatMap((event) => this.#order.take(event));
  }

  /** Reads a large event, and keeps what the data say alone, and not the data too. */
  protected override readLarge(data: string | null): Iterable<AnswerEvent> {
    return this.#piecesOf(super.read(data));
  }

  *#piecesOf(events: ReadonlyArray<AnswerEvent>): Iterable<AnswerEvent> {
    for (const event of events)
      if (isLongText(event)) for (const piece of textPieces(event)) yield* this.#order.take(piece);
      else yield* this.#order.take(event);
  }

  protected override take(event: AnswerEvent): void {
    super.take(event);
    this.#add(this.#writer.write(event), event.kind !== 'started');
  }

  #add(written: string, isCounted = true): void {
    if (written === '') return;
    this.#written.push(written);
    if (isCounted) this.#writtenBytes += written.length;
  }

  override finish(): string {
    let all = this.beginEnd();
    while (this.hasMore) {
      this.classifyMore();
      all += this.translated();
    }
    return all;
  }

  beginEnd(): string {
    this.#add(this.#writer.end());
    return this.translated();
  }

  /** See `AnswerWriter.errorEvent`. */
  get errorEvent(): StreamInterpreter['errorEvent'] {
    return this.#writer.errorEvent;
  }
}
