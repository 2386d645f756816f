import { JsonText, writeJson } from '#gateway/framing/json-text.ts';
import { sseEvent } from '#gateway/framing/sse-event.ts';
import type { JsonObject } from '#shared/json/json.ts';
import { jsonParts, type LongText } from './long-text.ts';
import type { Emit } from './output-items.ts';

/** Maximum length of long texts in one part, without its last piece. */
const maxLongLength = 128 * 1024;

/** Numbers the events of a stream without a gap, and writes them. */
export class EventFrames {
  #sequence = -1;
  #written: Array<string | LongText> = [];
  #rest: Iterator<string, undefined> | null = null;

  readonly emit: Emit = (type, members) => {
    this.#sequence += 1;
    const [first = '', ...others] = jsonParts({ type, ...members, sequence_number: this.#sequence });
    if (others.length === 0) this.#written.push(sseEvent(type, String(first)));
    else this.#written.push(`event: ${type}\ndata: `, first, ...others, '\n\n');
  };

  /** Emits two events with the same response, which is written once: it repeats the request. */
  emitBegun(response: JsonObject): void {
    const text = new JsonText(JSON.stringify(response));
    for (const type of ['response.created', 'response.in_progress']) {
      this.#sequence += 1;
      const event = { type, response: text, sequence_number: this.#sequence };
      this.#written.push(sseEvent(type, writeJson(event)));
    }
  }

  get hasMore(): boolean {
    return this.#written.length > 0;
  }

  /** Takes the events since the last call. Those with long texts are taken in several calls. */
  take(): string {
    let taken = '';
    let longLength = 0;
    let passed = 0;
    for (const part of this.#written) {
      if (typeof part === 'string') taken += part;
      else {
        this.#rest ??= part.parts();
        for (let next = this.#rest.next(); next.done !== true; next = this.#rest.next()) {
          taken += next.value;
          longLength += next.value.length;
          if (longLength >= maxLongLength) break;
        }
        if (longLength >= maxLongLength) break;
        this.#rest = null;
      }
      passed += 1;
    }
    this.#written.splice(0, passed);
    return taken;
  }

  takeAll(): string {
    let all = '';
    while (this.hasMore) all += this.take();
    return all;
  }
}
