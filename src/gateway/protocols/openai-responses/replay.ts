import { sseEvent } from '#gateway/framing/sse-event.ts';
import type { Json, JsonObject } from '#shared/json/json.ts';
import type { Emit } from './output-items.ts';
import { eventText } from './responses-answer-writer.ts';
import { emitWholeItem } from './whole-item.ts';

/** The end of a stored response. One that was cancelled in the background has no last event of its own. */
function endOf(status: Json | undefined): 'completed' | 'incomplete' | 'failed' {
  return status === 'completed' || status === 'incomplete' ? status : 'failed';
}

type MakeText = () => string;

/**
 * Streams a complete response again. The last event always comes, because a client waits for it: the provider's stream,
 * whose numbers the client may name, had more events.
 */
export class Replay {
  readonly #after: number;
  #sequence = -1;
  #index = -1;

  /** @param after the event with this number; null for all events */
  constructor(after: number | null) {
    this.#after = after ?? -1;
  }

  /** Begins the stream. @param begun the JSON text of the response as it is when it begins */
  *begin(begun: string): Generator<string> {
    for (const type of ['response.created', 'response.in_progress']) {
      this.#sequence += 1;
      if (this.#sequence > this.#after) yield this.#eventOf(type, begun);
    }
  }

  *item(item: JsonObject): Generator<string> {
    this.#index += 1;
    const made: MakeText[] = [];
    const emit: Emit = (type, members) => {
      this.#sequence += 1;
      const event = { type, ...members, sequence_number: this.#sequence };
      if (this.#sequence > this.#after) made.push(() => eventText(event));
    };
    emitWholeItem(emit, this.#index, item);
    for (const text of made) yield text();
  }

  /** Streams an item with too many values to be parsed. @param item JSON text */
  *largeItem(item: string): Generator<string> {
    this.#index += 1;
    this.#sequence += 1;
    const members = `"output_index":${this.#index},"item":${item},"sequence_number":${this.#sequence}`;
    const type = 'response.output_item.done';
    if (this.#sequence > this.#after) yield sseEvent(type, `{"type":"${type}",${members}}`);
  }

  end(response: string, status: Json | undefined): string {
    this.#sequence = Math.max(this.#sequence, this.#after) + 1;
    return this.#eventOf(`response.${endOf(status)}`, response);
  }

  #eventOf(type: string, response: string): string {
    const members = `"response":${response},"sequence_number":${this.#sequence}`;
    return sseEvent(type, `{"type":"${type}",${members}}`);
  }
}
