import { malformed, refusalInBody } from '#gateway/attempt/attempt-failure.ts';
import type { AttemptControl, BodyConsumer } from '#gateway/attempt/body-consumer.ts';
import { maxErrorValues, parseForeign, withoutByteOrderMark } from '#gateway/framing/foreign-json.ts';
import { GatheredBytes } from '#gateway/framing/gathered-bytes.ts';
import { providerErrorIn } from '#gateway/neutral/provider-report.ts';
import { contentOf } from '#gateway/transport/transport.ts';
import { isObject } from '#shared/json/json.ts';
import type { ResponseHead } from './response-handler.ts';

const maxBytes = 1024 * 1024;

/** Reads JSON that came in place of a stream, because it may contain the reason. */
export class JsonInsteadOfStream implements BodyConsumer {
  readonly #head: ResponseHead;
  readonly #attempt: AttemptControl;
  readonly #gathered = new GatheredBytes();

  constructor(head: ResponseHead, attempt: AttemptControl) {
    this.#head = head;
    this.#attempt = attempt;
  }

  onData(chunk: Buffer): void {
    this.#gathered.add(chunk);
    if (this.#gathered.length > maxBytes) this.#attempt.fail(malformed);
  }

  onEnd(): void {
    const content = contentOf(this.#head.headers, this.#gathered.bytes, maxBytes);
    const value = content === null ? null : parseForeign(withoutByteOrderMark(content), maxErrorValues);
    const error = isObject(value) ? providerErrorIn(value) : null;
    this.#attempt.fail(error === null ? malformed : refusalInBody(error));
  }
}
