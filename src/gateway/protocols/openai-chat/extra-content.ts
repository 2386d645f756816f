import { keptBytesOf } from '#gateway/framing/stream-interpreter.ts';
import type { Signature } from '#gateway/neutral/conversation.ts';
import { isObject, type Json, type JsonObject } from '#shared/json/json.ts';

type Members = Map<string, Json>;

/** The bytes of a provider's content in addition to its own. */
const bytesPerProvider = 200;

/**
 * The `extra_content` of a message or a call: providers put there what OpenAI's protocol has no member for: `{"google":
 * {"thought_signature": …}}` (https://ai.google.dev/gemini-api/docs/thought-signatures). It may come in many pieces. Of
 * one member the latest counts.
 */
export class ExtraContent {
  readonly #providers = new Map<string, Json | Members>();
  bytes = 0;

  static of(piece: Json | undefined): ExtraContent {
    const extra = new ExtraContent();
    extra.add(piece);
    return extra;
  }

  /** @returns the bytes that it takes more; a negative number if less came in the place of something */
  add(piece: Json | undefined): number {
    const before = this.bytes;
    if (isObject(piece)) for (const [provider, said] of Object.entries(piece)) this.#addOf(provider, said as Json);
    return this.bytes - before;
  }

  get isEmpty(): boolean {
    return this.#providers.size === 0;
  }

  get value(): JsonObject {
    return Object.fromEntries(
      Array.from(this.#providers, ([provider, said]) => [
        provider,
        said instanceof Map ? Object.fromEntries(said) : said,
      ]),
    );
  }

  #addOf(provider: string, said: Json): void {
    if (!isObject(said)) {
      this.#keep(this.#providers, provider, said);
      return;
    }
    // The mark of Gemini's thoughts belongs to one piece of a text, and not to the message.
    for (const [name, value] of Object.entries(said))
      if (name !== 'thought') this.#keep(this.#membersOf(provider), name, value as Json);
  }

  #membersOf(provider: string): Members {
    const known = this.#providers.get(provider);
    if (known instanceof Map) return known;
    const members: Members = new Map();
    this.#providers.set(provider, members);
    this.bytes += bytesPerProvider + keptBytesOf(provider);
    return members;
  }

  #keep(members: Map<string, Json | Members>, name: string, value: Json): void {
    this.bytes += bytesOf(name, value) - bytesOf(name, members.get(name));
    members.set(name, value);
  }
}

function bytesOf(name: string, value: Json | Members | undefined): number {
  return value === undefined ? 0 : keptBytesOf(name) + JSON.stringify(value).length;
}

/** The state of a call; null if the provider needs nothing back. @param of the target that needs it back */
export function callState(extra: ExtraContent, of: string): Signature | null {
  return extra.isEmpty ? null : { of, value: JSON.stringify(extra.value), isRedacted: true };
}
