import type { Client } from '#exchange/client.ts';
import { malformed, unfinished } from '#gateway/attempt/attempt-failure.ts';
import type { AttemptControl, BodyConsumer } from '#gateway/attempt/body-consumer.ts';
import { nothingReported } from '#gateway/neutral/consumption.ts';
import {
  copyHeader,
  createRelayedHeaders,
  type ResponseHandler,
  type ResponseHead,
  writePaced,
} from './response-handler.ts';

/** Passes bytes, for example of audio. The answer begins with the first of them. */
export class ByteStreamResponse implements ResponseHandler {
  readonly #response: Client;
  readonly isAwaitingUsage = false;
  hasBegun = false;

  constructor(response: Client) {
    this.#response = response;
  }

  receive(head: ResponseHead, attempt: AttemptControl): BodyConsumer {
    // A proxy in front of a provider may report an error as a page with status 200.
    const isPage = /^text\/html\b/i.test(head.headers['content-type'] ?? '');
    return {
      onData: (chunk) => {
        if (isPage) return attempt.fail(malformed);
        if (!this.hasBegun) this.#begin(head, attempt);
        writePaced(this.#response, chunk, attempt);
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

  /** A stream of bytes cannot carry an error, and clients see that it did not end normally. */
  abort(): void {
    this.#response.destroy();
  }

  #begin(head: ResponseHead, attempt: AttemptControl): void {
    attempt.markContent();
    this.hasBegun = true;
    const { audio } = head.translator ?? {};
    const contentType = audio?.contentType ?? head.headers['content-type'] ?? 'application/octet-stream';
    // The text to speak is known; what a provider reports comes too late.
    const fields = createRelayedHeaders(head, contentType, nothingReported);
    // With a prefix the body is longer than the provider says.
    const lengths = audio === undefined || audio.prefix.length === 0 ? ['content-length'] : [];
    for (const name of [...lengths, 'content-encoding', 'content-disposition']) copyHeader(fields, head, name);
    this.#response.start(head.status, fields);
    if (audio !== undefined && audio.prefix.length > 0) this.#response.write(audio.prefix);
  }
}
