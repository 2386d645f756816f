import type { ResponseSink } from '#application/responses/response-sink.ts';
import { copyHeader, createResponseHeaders, type ResponseHandler, type ResponseHead } from './answering.ts';
import type { AttemptControl, BodyConsumer } from './attempt.ts';
import { type AttemptFailure, malformed } from './attempt-failure.ts';

const unfinished: AttemptFailure = { kind: 'broken', how: 'unfinished' };

/** Passes bytes on as they come, audio for one. The first of them makes the answer begin. */
export class ByteStreamResponse implements ResponseHandler {
  readonly #response: ResponseSink;
  readonly tokens = null;
  readonly isAwaitingUsage = false;
  hasBegun = false;

  constructor(client: ResponseSink) {
    this.#response = client;
  }

  receive(head: ResponseHead, attempt: AttemptControl): BodyConsumer {
    const goOn = () => attempt.resume();
    // What stands in front of a provider may tell of its trouble by a page of status 200.
    const isPage = /^text\/html\b/i.test(head.headers['content-type'] ?? '');
    return {
      onData: (chunk) => {
        if (isPage) return attempt.fail(malformed);
        if (!this.hasBegun) this.#begin(head, attempt);
        if (this.#response.write(chunk)) return;
        attempt.pause();
        this.#response.onceDrained(goOn);
      },
      onEnd: () => {
        if (this.hasBegun) {
          this.#response.end();
          attempt.complete();
        } else attempt.fail(unfinished);
      },
    };
  }

  continuation(): null {
    return null;
  }

  /** Bytes have no place for an error: the connection is cut, which no client takes for an end. */
  abort(): void {
    this.#response.destroy();
  }

  #begin(head: ResponseHead, attempt: AttemptControl): void {
    attempt.markContent();
    this.hasBegun = true;
    const { audio } = head.translator ?? {};
    const contentType = audio?.contentType ?? head.headers['content-type'] ?? 'application/octet-stream';
    const fields = createResponseHeaders(head, contentType);
    // With something put before it, it is longer than the provider says.
    const lengths = audio === undefined || audio.prefix.length === 0 ? ['content-length'] : [];
    for (const name of [...lengths, 'content-encoding', 'content-disposition']) copyHeader(fields, head, name);
    this.#response.start(head.status, fields);
    if (audio !== undefined && audio.prefix.length > 0) this.#response.write(audio.prefix);
  }
}
