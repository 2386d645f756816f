import { turn } from '#exchange/turns.ts';
import { parseForeignInTurns } from '#gateway/framing/foreign-json.ts';
import { messageStart } from '#gateway/protocols/openai-responses/responses-body.ts';
import type { ItemsBefore } from '#gateway/protocols/openai-responses/responses-request.ts';
import type { KeptTurn } from '#responses/turn.ts';
import type { ItemsPart } from '#responses/turn-text.ts';
import { currentWorkOwner } from '#shared/async/fair-queue.ts';
import { isObject, type JsonObject } from '#shared/json/json.ts';
import type { NamedItem } from './named-item.ts';
import { type ItemBytes, keptBytes, sentTo, withReasoningMark, withTakenId } from './sent-item.ts';

export class ItemsOfTurns implements ItemsBefore {
  /** The approximate size. */
  readonly size: number;
  readonly #turns: ReadonlyArray<KeptTurn>;
  readonly #found: ReadonlyMap<string, NamedItem>;

  /** @param found items that the turns name by their ids */
  constructor(turns: ReadonlyArray<KeptTurn>, found: ReadonlyMap<string, NamedItem>) {
    this.#turns = turns;
    this.#found = found;
    const ownBytes = turns.reduce((sum, { text }) => sum + text.sizeOfItems + bytesBetween, 0);
    this.size = this.#named.reduce((sum, { size }) => sum + size + bytesBetween, ownBytes);
  }

  get values(): number {
    const ownValues = this.#turns.reduce((sum, { text }) => sum + text.values, 0);
    return this.#named.reduce((sum, { values }) => sum + values, ownValues);
  }

  /** True if some item must differ between targets, also one of another conversation. */
  get mustBeInInput(): boolean {
    const named = this.#named;
    return this.#turns.some(({ text }) => text.mustBeInInput) || named.some(({ mustBeInInput }) => mustBeInInput);
  }

  textFor(provider: string): ItemBytes {
    return joined(this.#turns, ({ text: { bytes }, outline }, part) => {
      if (part.kind === 'reference') return this.#found.get(part.id)?.textFor(provider) ?? null;
      if (part.kind === 'call') return withTakenId(bytes, part);
      return sentTo(provider, bytes, part, outline.provider);
    });
  }

  /** The JSON texts for any target, with commas between them. */
  get text(): ItemBytes {
    return this.#markedTexts(this.#turns);
  }

  async parse(): Promise<ReadonlyArray<JsonObject>> {
    const items: JsonObject[] = [];
    const work = currentWorkOwner();
    for (const kept of this.#turns) {
      const text = Buffer.concat([openBracket, ...this.#markedTexts([kept]), closeBracket]);
      await turn(work, 'body', text.length);
      const parsed = await parseForeignInTurns(text, { held: work, scan: null, reserve: () => true });
      if (Array.isArray(parsed)) for (const item of parsed.filter(isObject)) items.push(item);
    }
    return items;
  }

  #markedTexts(turns: ReadonlyArray<KeptTurn>): ItemBytes {
    return joined(turns, ({ text: { bytes }, outline }, part) => {
      if (part.kind === 'reference') return this.#found.get(part.id)?.text ?? null;
      if (part.kind === 'call') return [bytes.subarray(part.start, part.end)];
      return withReasoningMark(bytes, part, outline.provider);
    });
  }

  /** The named items, each as often as it is named. */
  get #named(): ReadonlyArray<NamedItem> {
    return this.#turns.flatMap(({ text }) => text.references.flatMap((id) => this.#found.get(id) ?? []));
  }
}

const comma = Buffer.from(',');
const openBracket = Buffer.from('[');
const closeBracket = Buffer.from(']');
/** Number of bytes that a turn needs for commas, and for the message that a text is. */
const bytesBetween = messageStart.length + 3;

type ChangedPart = Extract<ItemsPart, { readonly kind: 'reference' | 'reasoning' | 'opaque' | 'call' }>;

/** Joins texts in pieces, with commas between them. @param change null for what is left out */
function joined(
  turns: ReadonlyArray<KeptTurn>,
  change: (turn: KeptTurn, part: ChangedPart) => ItemBytes | null,
): ItemBytes {
  const pieces: Buffer[] = [];
  for (const turn of turns) {
    const { bytes } = turn.text;
    for (const part of turn.text.items()) {
      const text = part.kind === 'kept' || part.kind === 'text' ? keptBytes(bytes, part) : change(turn, part);
      if (text === null) continue;
      if (pieces.length > 0) pieces.push(comma);
      pieces.push(...text);
    }
  }
  return pieces;
}
