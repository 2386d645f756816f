import { type AnswerHead, type Answering, answerFields } from './answering.ts';
import type { AttemptControl, Reception } from './attempt.ts';
import { type AttemptFailure, errorInStream, malformed, refusedInside } from './attempt-failure.ts';
import { providerErrorIn, type Tokens } from './chat-event.ts';
import type { Client } from './client.ts';
import { isPlain } from './content-encoding.ts';
import { isObject, parsedJson } from './json-value.ts';
import { type SseBatch, SseSplitter } from './sse-splitter.ts';
import type { Meaning, StreamMeaning } from './stream-meaning.ts';

export interface EventStreamOptions {
  readonly client: Client;
  /** Makes what understands the events of an attempt. */
  readonly meaning: () => StreamMeaning;
  /** The answer is held until it is complete. */
  readonly whole: boolean;
  /** Another target may go on from the text so far. */
  readonly continues: boolean;
}

/** What is held before it may go out, at most: before the first content, and of an answer that is held whole. */
const heldBytesAtMost = 1024 * 1024;
const wholeBytesAtMost = 16 * 1024 * 1024;

const noBytes = Buffer.alloc(0);
const tooLarge: AttemptFailure = { kind: 'broken', how: 'too-large' };
const unfinished: AttemptFailure = { kind: 'broken', how: 'unfinished' };

/**
 * Passes a stream on event by event, as it came. Headers and what comes before the first content wait for it, so that
 * a failure before can be served by another attempt.
 */
export class EventStreamAnswer implements Answering {
  readonly options: EventStreamOptions;
  begun = false;
  /** Texts of attempts that broke after their content had gone out. */
  readonly #texts: string[] = [];
  #meaning: StreamMeaning | null = null;
  #continuable: boolean;

  constructor(options: EventStreamOptions) {
    this.options = options;
    this.#continuable = options.continues;
  }

  get tokens(): Tokens | null {
    return this.#meaning?.tokens ?? null;
  }

  get awaitsUsage(): boolean {
    return this.#meaning?.finished === true && this.#meaning.tokens === null;
  }

  receive(head: AnswerHead, attempt: AttemptControl): Reception {
    if (isPlain(head.headers) && /[/+]json\b/i.test(head.headers['content-type'] ?? '')) return new NoStream(attempt);
    const meaning = this.options.meaning();
    this.#meaning = meaning;
    return new StreamReception(this, head, attempt, meaning);
  }

  continuation(): string | null {
    if (!this.#continuable) return null;
    if (this.#meaning !== null) {
      const { text } = this.#meaning;
      this.#meaning = null;
      if (text === null) {
        this.#continuable = false;
        return null;
      }
      this.#texts.push(text);
    }
    return this.#texts.join('');
  }

  breakOff(failure: AttemptFailure): void {
    const { client } = this.options;
    client.write(`data: ${JSON.stringify(errorInStream(failure))}\n\n`);
    client.end();
  }
}

/** JSON where a stream was asked for: at best it tells why there is none. */
class NoStream implements Reception {
  readonly #attempt: AttemptControl;
  #chunks: Buffer[] = [];
  #bytes = 0;

  constructor(attempt: AttemptControl) {
    this.#attempt = attempt;
  }

  onData(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes > heldBytesAtMost) this.#attempt.failed(malformed);
  }

  onEnd(): void {
    const value = parsedJson(Buffer.concat(this.#chunks));
    const error = isObject(value) ? providerErrorIn(value) : null;
    this.#attempt.failed(error === null ? malformed : refusedInside(error));
  }
}

/** The stream of one attempt. */
class StreamReception implements Reception {
  readonly #answer: EventStreamAnswer;
  readonly #client: Client;
  readonly #status: number;
  /** Of the answer that it begins. Made when the provider's come: its content comes later. */
  readonly #fields: ReadonlyArray<string>;
  readonly #attempt: AttemptControl;
  readonly #meaning: StreamMeaning;
  readonly #splitter = new SseSplitter();
  /** Another attempt's answer had begun: this one goes on with it. */
  readonly #continues: boolean;
  #arrived: Buffer[] = [];
  #held: Buffer[] = [];
  #heldBytes = 0;
  #sending = false;
  #over = false;

  constructor(answer: EventStreamAnswer, head: AnswerHead, attempt: AttemptControl, meaning: StreamMeaning) {
    const contentType = head.headers['content-type'] ?? '';
    this.#answer = answer;
    this.#client = answer.options.client;
    this.#status = head.status;
    // A proxy in front that gathers what it passes on would undo the streaming.
    this.#fields = [...answerFields(head, contentType), 'X-Accel-Buffering', 'no'];
    this.#attempt = attempt;
    this.#meaning = meaning;
    this.#continues = answer.begun;
    if (/^text\/event-stream\b/i.test(contentType) && isPlain(head.headers)) return;
    this.#over = true;
    queueMicrotask(() => attempt.failed(malformed));
  }

  /** What comes in one turn is looked at and written once. */
  onData(chunk: Buffer): void {
    if (this.#arrived.push(chunk) === 1) queueMicrotask(this.#flush);
  }

  onEnd(): void {
    this.#take();
    if (this.#over) return;
    this.#pass(this.#splitter.finish());
    if (this.#over) return;
    if (this.#meaning.finished) this.#complete(this.#meaning.endMark);
    else this.#fail(unfinished);
  }

  onBreak(): void {
    this.#take();
    // All that makes an answer has come: how the connection ended does not matter any more.
    if (!this.#over && this.#meaning.finished) this.#complete(this.#meaning.endMark);
    this.#over = true;
  }

  readonly #flush = (): void => {
    this.#take();
    // The first content waits for the end of its turn: a failure that came with it can still be served elsewhere.
    if (this.#sending && this.#held.length > 0 && !this.#over && !this.#answer.options.whole) this.#write(noBytes);
  };

  #take(): void {
    const arrived = this.#arrived;
    const [first] = arrived;
    if (first === undefined) return;
    this.#arrived = [];
    if (this.#over) return;
    this.#pass(this.#splitter.push(arrived.length === 1 ? first : Buffer.concat(arrived)));
    if (!this.#over && this.#splitter.overflown) this.#fail(tooLarge);
  }

  #pass({ bytes, events }: SseBatch): void {
    /** From where on bytes of this batch are still to go out. */
    let from = 0;
    let saysMore = false;
    for (const { start, end, data } of events) {
      saysMore ||= data !== null;
      const meaning = this.#meaning.read(data);
      if (meaning.kind === 'content' && !this.#sending) {
        this.#sending = true;
        this.#attempt.content();
        // What a second attempt says before its content, the first one has said.
        if (this.#continues) from = start;
      } else if (meaning.kind === 'ours') {
        this.#send(bytes.subarray(from, start));
        from = end;
      } else if (meaning.kind !== 'quiet' && meaning.kind !== 'content') {
        this.#send(bytes.subarray(from, start));
        this.#conclude(meaning, bytes.subarray(start, end));
        return;
      }
    }
    this.#send(from === 0 ? bytes : bytes.subarray(from));
    if (saysMore && this.#meaning.finished && !this.#over) this.#attempt.ending();
  }

  /** An event after which nothing else counts. */
  #conclude(meaning: Extract<Meaning, { kind: 'end' | 'malformed' | 'error' }>, event: Buffer): void {
    if (meaning.kind === 'error') this.#fail(refusedInside(meaning.error));
    else if (meaning.kind === 'malformed') this.#fail(malformed);
    else if (!this.#meaning.mayEnd) this.#fail(unfinished);
    else {
      this.#send(event);
      this.#complete(null);
    }
  }

  #send(bytes: Buffer): void {
    if (bytes.length === 0 || this.#over) return;
    if (this.#sending && this.#answer.begun) {
      this.#write(bytes);
      return;
    }
    if (this.#continues) return;
    this.#held.push(bytes);
    this.#heldBytes += bytes.length;
    const { whole } = this.#answer.options;
    const isWaiting = whole || !this.#sending;
    if (isWaiting && this.#heldBytes > (whole ? wholeBytesAtMost : heldBytesAtMost)) this.#fail(tooLarge);
  }

  #write(bytes: Buffer): void {
    if (!this.#answer.begun) this.#begin();
    if (this.#client.write(this.#withHeld(bytes))) return;
    this.#attempt.pause();
    this.#client.whenDrained(this.#goOn);
  }

  readonly #goOn = (): void => this.#attempt.resume();

  #withHeld(bytes: Buffer): Buffer {
    if (this.#held.length === 0) return bytes;
    const [first = noBytes] = this.#held;
    const all = this.#held.length === 1 && bytes.length === 0 ? first : Buffer.concat([...this.#held, bytes]);
    this.#held = [];
    return all;
  }

  #begin(): void {
    this.#answer.begun = true;
    this.#client.begin(this.#status, this.#fields);
  }

  #complete(endMark: string | null): void {
    if (this.#over) return;
    this.#over = true;
    if (!this.#answer.begun) this.#begin();
    const rest = this.#withHeld(endMark === null ? noBytes : Buffer.from(endMark));
    if (rest.length > 0) this.#client.write(rest);
    this.#client.end();
    this.#attempt.served();
  }

  #fail(failure: AttemptFailure): void {
    if (this.#over) return;
    this.#over = true;
    this.#attempt.failed(failure);
  }
}
