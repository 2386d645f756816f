import { encryptedContentOf, signatureIn } from '#gateway/protocols/openai-responses/encrypted-content.ts';
import type { ItemsBefore } from '#gateway/protocols/openai-responses/responses-request.ts';
import type { KeptTurn } from '#responses/turn.ts';
import { isReferenceItem, itemsOfTurn } from '#responses/turn-items.ts';
import type { Json, JsonObject } from '#shared/json/json.ts';

/** An item that was found by its id. */
export interface FoundItem {
  readonly item: JsonObject;
  readonly turn: KeptTurn;
}

/** The items of the turns before a request. What is made of a turn is kept as long as the turn, because each later one needs it. */
export class ItemsOfTurns implements ItemsBefore {
  /** About as many bytes as are stored of the turns. */
  readonly size: number;
  readonly #turns: ReadonlyArray<SentTurn>;
  readonly #found: ReadonlyMap<string, FoundItem>;

  /** @param found the items that the turns name by their ids */
  constructor(turns: ReadonlyArray<KeptTurn>, found: ReadonlyMap<string, FoundItem>) {
    this.size = turns.reduce((sum, { outline }) => sum + outline.bytes, 0);
    this.#turns = turns.map(sentTurnOf);
    this.#found = found;
  }

  get values(): number {
    return this.#turns.reduce((sum, turn) => sum + turn.values, 0);
  }

  /** Whether some of them name files. */
  get hasFiles(): boolean {
    return this.#turns.some((turn) => turn.hasFiles);
  }

  textFor(provider: string): string {
    return this.#turns.flatMap((turn) => turn.textFor(provider, this.#found) || []).join(',');
  }

  get items(): ReadonlyArray<JsonObject> {
    return this.#turns.flatMap((turn) => turn.marked(this.#found));
  }
}

const memberOfFiles = '"file_id"';

/** A turn as later requests have it. */
class SentTurn {
  readonly #provider: string | null;
  readonly #items: ReadonlyArray<JsonObject>;
  readonly #references: ReadonlyArray<string>;
  /** By provider. A turn that names other items has none, because these may change. */
  readonly #texts = new Map<string, string>();
  #marked: ReadonlyArray<JsonObject> | null = null;
  #values: number | null = null;
  #hasFiles: boolean | null = null;

  constructor(turn: KeptTurn) {
    this.#provider = turn.outline.provider;
    this.#items = itemsOfTurn(turn);
    this.#references = turn.input.filter(isReferenceItem).map(({ id }) => String(id));
  }

  /** The ids of the items of other turns in it. */
  get references(): ReadonlyArray<string> {
    return this.#references;
  }

  get values(): number {
    this.#values ??= this.#items.reduce((sum, item) => sum + valuesIn(item), 0);
    return this.#values;
  }

  get hasFiles(): boolean {
    this.#hasFiles ??= JSON.stringify(this.#items).includes(memberOfFiles);
    return this.#hasFiles;
  }

  marked(found: ReadonlyMap<string, FoundItem>): ReadonlyArray<JsonObject> {
    if (this.#marked !== null) return this.#marked;
    const marked = this.#resolved(found)
      .map(([item, provider]) => markedAgain(item, provider))
      .filter((item) => item !== null);
    if (this.#references.length === 0) this.#marked = marked;
    return marked;
  }

  textFor(provider: string, found: ReadonlyMap<string, FoundItem>): string {
    const known = this.#texts.get(provider);
    if (known !== undefined) return known;
    const items = this.#resolved(found).flatMap(([item, madeBy]) => sentTo(provider, item, madeBy) ?? []);
    const text = latin1(items.map((item) => JSON.stringify(item)).join(','));
    if (this.#references.length === 0) this.#texts.set(provider, text);
    return text;
  }

  /** Its items, each with the provider that has made it, and others in place of their ids. */
  #resolved(found: ReadonlyMap<string, FoundItem>): ReadonlyArray<readonly [JsonObject, string | null]> {
    return this.#items.flatMap((item) => {
      if (!isReferenceItem(item)) return [[item, this.#provider] as const];
      const named = found.get(String(item.id));
      return named === undefined ? [] : [[named.item, named.turn.outline.provider] as const];
    });
  }
}

const sentTurns = new WeakMap<KeptTurn, SentTurn>();

function sentTurnOf(turn: KeptTurn): SentTurn {
  const known = sentTurns.get(turn) ?? new SentTurn(turn);
  sentTurns.set(turn, known);
  return known;
}

/** The ids of the items of other turns that a turn has. */
export function referencesIn(turn: KeptTurn): ReadonlyArray<string> {
  return sentTurnOf(turn).references;
}

/**
 * Makes an item as it is sent again. The opaque part of reasoning gets the name of the provider that made it. Reasoning
 * without one cannot be sent again.
 * @returns null if it is left out
 */
export function markedAgain(item: JsonObject, provider: string | null): JsonObject | null {
  if (item.type !== 'reasoning') return item;
  const { encrypted_content: value } = item;
  if (typeof value !== 'string' || value === '') return null;
  if (provider === null || signatureIn(value) !== null) return item;
  return { ...item, encrypted_content: encryptedContentOf({ of: provider, value, isRedacted: false }) };
}

/** The same for a target of this protocol: the opaque part as its provider made it, and no reasoning of others. */
function sentTo(provider: string, item: JsonObject, madeBy: string | null): JsonObject | null {
  if (item.type !== 'reasoning') return item;
  const { encrypted_content: value } = item;
  if (typeof value !== 'string' || value === '') return null;
  const signature = signatureIn(value);
  if (signature !== null) return signature.of === provider ? { ...item, encrypted_content: signature.value } : null;
  return madeBy === null || madeBy === provider ? item : null;
}

function valuesIn(value: Json | undefined): number {
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce<number>((sum, each) => sum + valuesIn(each), 1);
}

/** The bytes of a text in UTF-8, as the text that an edit writes. */
export function latin1(text: string): string {
  return Buffer.from(text).toString('latin1');
}
