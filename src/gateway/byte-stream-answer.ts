import { type AnswerHead, type Answering, answerFields, pushHeader } from './answering.ts';
import type { AttemptControl, Reception } from './attempt.ts';
import { type AttemptFailure, malformed } from './attempt-failure.ts';
import type { Client } from './client.ts';

const unfinished: AttemptFailure = { kind: 'broken', how: 'unfinished' };

/** Passes bytes on as they come, audio for one. The first of them makes the answer begin. */
export class ByteStreamAnswer implements Answering {
  readonly #client: Client;
  readonly tokens = null;
  readonly awaitsUsage = false;
  begun = false;

  constructor(client: Client) {
    this.#client = client;
  }

  receive(head: AnswerHead, attempt: AttemptControl): Reception {
    const goOn = () => attempt.resume();
    // What stands in front of a provider may tell of its trouble by a page of status 200.
    const isPage = /^text\/html\b/i.test(head.headers['content-type'] ?? '');
    return {
      onData: (chunk) => {
        if (isPage) return attempt.failed(malformed);
        if (!this.begun) this.#begin(head, attempt);
        if (this.#client.write(chunk)) return;
        attempt.pause();
        this.#client.whenDrained(goOn);
      },
      onEnd: () => {
        if (this.begun) {
          this.#client.end();
          attempt.served();
        } else attempt.failed(unfinished);
      },
    };
  }

  continuation(): null {
    return null;
  }

  /** Bytes have no place for an error: the connection is cut, which no client takes for an end. */
  breakOff(): void {
    this.#client.cut();
  }

  #begin(head: AnswerHead, attempt: AttemptControl): void {
    attempt.content();
    this.begun = true;
    const { audio } = head.reading ?? {};
    const contentType = audio?.contentType ?? head.headers['content-type'] ?? 'application/octet-stream';
    const fields = answerFields(head, contentType);
    // With something put before it, it is longer than the provider says.
    const lengths = audio === undefined || audio.prefix.length === 0 ? ['content-length'] : [];
    for (const name of [...lengths, 'content-encoding', 'content-disposition']) pushHeader(fields, head, name);
    this.#client.begin(head.status, fields);
    if (audio !== undefined && audio.prefix.length > 0) this.#client.write(audio.prefix);
  }
}
