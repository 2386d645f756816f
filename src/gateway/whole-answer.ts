import { type AnswerHead, type Answering, answerFields } from './answering.ts';
import type { AttemptControl, Reception } from './attempt.ts';
import { type AttemptFailure, malformed, refusedInside } from './attempt-failure.ts';
import { providerErrorIn, type Tokens, tokensIn } from './chat-event.ts';
import type { Client } from './client.ts';
import { contentOf } from './content-encoding.ts';
import { audioSecondsIn } from './cost.ts';
import { isObject, parsedJson } from './json-value.ts';

export interface WholeAnswerOptions {
  readonly client: Client;
  /** The member that a JSON answer must have; null where the answer may be of any kind. */
  readonly mustHave: string | null;
}

/** The bytes of a whole answer that are held at most. */
const answerBytesAtMost = 64 * 1024 * 1024;
/** A few bytes may be made of very many: nothing else goes on meanwhile. */
const decompressedBytesAtMost = 16 * 1024 * 1024;

const tooLarge: AttemptFailure = { kind: 'broken', how: 'too-large' };
const unfinished: AttemptFailure = { kind: 'broken', how: 'unfinished' };

/** Holds an answer until it is complete: what breaks before can still be served by another attempt. */
export class WholeAnswer implements Answering {
  readonly #options: WholeAnswerOptions;
  tokens: Tokens | null = null;
  audioSeconds: number | null = null;
  begun = false;
  /** It has its usage in it. */
  readonly awaitsUsage = false;

  constructor(options: WholeAnswerOptions) {
    this.#options = options;
  }

  receive(head: AnswerHead, attempt: AttemptControl): Reception {
    const chunks: Buffer[] = [];
    let bytes = 0;
    return {
      onData: (chunk) => {
        attempt.content();
        chunks.push(chunk);
        bytes += chunk.length;
        if (bytes > answerBytesAtMost) attempt.failed(tooLarge);
      },
      onEnd: () => {
        const failure = this.#deliver(head, chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, bytes));
        if (failure === null) attempt.served();
        else attempt.failed(failure);
      },
    };
  }

  continuation(): null {
    return null;
  }

  breakOff(): void {
    // It begins and ends at once: there is nothing to break off.
  }

  #deliver(head: AnswerHead, sent: Buffer): AttemptFailure | null {
    const { client } = this.#options;
    const body = contentOf(head.headers, sent, decompressedBytesAtMost);
    if (body === null) return malformed;
    const contentType = head.headers['content-type'] ?? 'application/octet-stream';
    const failure = this.#judge(contentType, body);
    if (failure !== null) return failure;
    const translate = head.reading?.translate;
    const translated = translate === undefined ? { contentType, body } : translate(body);
    if (translated === null) return malformed;
    this.begun = true;
    client.whole(head.status, answerFields(head, translated.contentType), translated.body);
    return null;
  }

  #judge(contentType: string, body: Buffer): AttemptFailure | null {
    const { mustHave } = this.#options;
    if (mustHave === null && !/[/+]json\b/i.test(contentType)) return body.length > 0 ? null : unfinished;
    const value = parsedJson(body);
    if (!isObject(value)) return malformed;
    const error = mustHave !== null && value[mustHave] !== undefined ? null : providerErrorIn(value);
    if (error !== null) return refusedInside(error);
    if (mustHave !== null && value[mustHave] === undefined) return malformed;
    this.tokens = tokensIn(value.usage);
    this.audioSeconds = audioSecondsIn(value);
    return null;
  }
}
