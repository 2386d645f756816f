import type { ItemsBefore } from '#gateway/protocols/openai-responses/responses-request.ts';
import { maxTextsOfTurn } from '#responses/recent-turns.ts';
import type { KeptTurn } from '#responses/turn.ts';
import { isReferenceItem, itemsOfTurn } from '#responses/turn-items.ts';
import { countValues, type JsonObject } from '#shared/json/json.ts';
import { hasFilesIn, markedAgain, type NamedItem, sentTo, textOf } from './sent-item.ts';

/**
 * The items of the turns before a request. What is made of a turn is kept as long as the turn, because each later one
 * needs it.
 */
export class ItemsOfTurns implements ItemsBefore {
  /** About as many bytes as are stored of the turns, and those of each item that they name. */
  readonly size: number;
  readonly #turns: ReadonlyArray<SentTurn>;
  readonly #found: ReadonlyMap<string, NamedItem>;

  /** @param found the items that the turns name by their ids */
  constructor(turns: ReadonlyArray<KeptTurn>, found: ReadonlyMap<string, NamedItem>) {
    this.#turns = turns.map(sentTurnOf);
    this.#found = found;
    const storedBytes = turns.reduce((sum, { outline }) => sum + outline.bytes, 0);
    this.size = this.#named.reduce((sum, { text }) => sum + text.length, storedBytes);
  }

  get values(): number {
    return [...this.#turns, ...this.#named].reduce((sum, { values }) => sum + values, 0);
  }

  /** Whether some of them name files, also items of other conversations. */
  get hasFiles(): boolean {
    return this.#turns.some((turn) => turn.hasFiles) || this.#named.some(({ hasFiles }) => hasFiles);
  }

  textFor(provider: string): string {
    return this.#turns.flatMap((turn) => turn.textFor(provider, this.#found) || []).join(',');
  }

  get items(): ReadonlyArray<JsonObject> {
    return this.#turns.flatMap((turn) => turn.marked(this.#found));
  }

  /** The items that the turns name, each as often as it is named. */
  get #named(): ReadonlyArray<NamedItem> {
    return this.#turns.flatMap(({ references }) => references.flatMap((id) => this.#found.get(id) ?? []));
  }
}

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
    this.#values ??= this.#items.reduce((sum, item) => sum + countValues(item), 0);
    return this.#values;
  }

  get hasFiles(): boolean {
    this.#hasFiles ??= hasFilesIn(JSON.stringify(this.#items));
    return this.#hasFiles;
  }

  marked(found: ReadonlyMap<string, NamedItem>): ReadonlyArray<JsonObject> {
    if (this.#marked !== null) return this.#marked;
    const marked = this.#resolved(found)
      .map(([item, provider]) => markedAgain(item, provider))
      .filter((item) => item !== null);
    if (this.#references.length === 0) this.#marked = marked;
    return marked;
  }

  textFor(provider: string, found: ReadonlyMap<string, NamedItem>): string {
    const known = this.#texts.get(provider);
    if (known !== undefined) return known;
    const texts = this.#items.map((item) => {
      if (isReferenceItem(item)) return found.get(String(item.id))?.textFor(provider) ?? null;
      const sent = sentTo(provider, item, this.#provider);
      return sent === null ? null : textOf(sent);
    });
    const text = texts.filter((each) => each !== null).join(',');
    if (this.#references.length === 0) this.#keepText(provider, text);
    return text;
  }

  #keepText(provider: string, text: string): void {
    this.#texts.set(provider, text);
    const [oldest] = this.#texts.keys();
    if (this.#texts.size > maxTextsOfTurn && oldest !== undefined) this.#texts.delete(oldest);
  }

  /** Its items, each with the provider that has made it, and others in place of their ids. */
  #resolved(found: ReadonlyMap<string, NamedItem>): ReadonlyArray<readonly [JsonObject, string | null]> {
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
