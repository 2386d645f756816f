import { encryptedContentOf, ownPrefix, signatureIn } from '#gateway/protocols/openai-responses/encrypted-content.ts';
import type { KeptTurn } from '#responses/turn.ts';
import { countValues, type JsonObject } from '#shared/json/json.ts';

/** An item that was found by its id. Each text of it is made once, however often it is named. */
export class NamedItem {
  readonly item: JsonObject;
  readonly turn: KeptTurn;
  readonly #texts = new Map<string, string | null>();
  #text: string | null = null;
  #values: number | null = null;
  #hasFiles: boolean | null = null;

  constructor(item: JsonObject, turn: KeptTurn) {
    this.item = item;
    this.turn = turn;
  }

  /** Its JSON text for any target. Reasoning in it names the provider that can read its opaque part. */
  get text(): string {
    this.#text ??= textOf(markedAgain(this.item, this.turn.outline.provider) ?? emptyReasoning);
    return this.#text;
  }

  /** How many JSON values it has. */
  get values(): number {
    this.#values ??= countValues(this.item);
    return this.#values;
  }

  /** Whether it names files. */
  get hasFiles(): boolean {
    this.#hasFiles ??= hasFilesIn(this.text);
    return this.#hasFiles;
  }

  /** Its JSON text for a provider; null if this one does not get it. */
  textFor(provider: string): string | null {
    if (this.item.type !== 'reasoning') return this.text;
    const known = this.#texts.get(provider);
    if (known !== undefined) return known;
    const sent = sentTo(provider, this.item, this.turn.outline.provider);
    const text = sent === null ? null : textOf(sent);
    this.#texts.set(provider, text);
    return text;
  }
}

/** What a reference becomes whose reasoning cannot be sent again: it says nothing, and every target leaves it out. */
export const emptyReasoning = { type: 'reasoning', summary: [], encrypted_content: `${ownPrefix}nobody:0:` };

/**
 * Makes an item as it is sent again. The opaque part of reasoning gets the name of the provider that made it. Reasoning
 * without one, or of an unknown provider, cannot be sent again.
 * @returns null if it is left out
 */
export function markedAgain(item: JsonObject, provider: string | null): JsonObject | null {
  if (item.type !== 'reasoning') return item;
  const { encrypted_content: value } = item;
  if (typeof value !== 'string' || value === '') return null;
  if (signatureIn(value) !== null) return item;
  if (provider === null) return null;
  return { ...item, encrypted_content: encryptedContentOf({ of: provider, value, isRedacted: false }) };
}

/** The same for a target of this protocol: the opaque part as its provider made it, and no reasoning of others. */
export function sentTo(provider: string, item: JsonObject, madeBy: string | null): JsonObject | null {
  if (item.type !== 'reasoning') return item;
  const { encrypted_content: value } = item;
  if (typeof value !== 'string' || value === '') return null;
  const signature = signatureIn(value);
  if (signature !== null) return signature.of === provider ? { ...item, encrypted_content: signature.value } : null;
  return madeBy === provider ? item : null;
}

/** Whether the JSON text of items may name files. */
export function hasFilesIn(text: string): boolean {
  return text.includes('"file_id"');
}

/** The JSON text of an item, as an edit writes it: the bytes of UTF-8, each as a character. */
export function textOf(item: JsonObject): string {
  return Buffer.from(JSON.stringify(item)).toString('latin1');
}
