import { keptBytesOf } from '#gateway/framing/stream-interpreter.ts';
import { GatheredText } from '#gateway/neutral/gathered-text.ts';
import type { Json, JsonObject } from '#shared/json/json.ts';

/** The members of a detail that come in pieces. */
const textMembers: ReadonlySet<string> = new Set(['text', 'summary', 'data']);

/** The bytes of a detail in addition to its members. */
const bytesPerDetail = 500;

/** How many of the latest details of one index a piece may continue. */
const maxOpen = 16;

/** A detail of which more may come, with its members in their order. */
type Growing = Map<string, Json | GatheredText>;

/**
 * The `reasoning_details` of a streamed message, which OpenRouter wants back in the same order and unmodified
 * (https://openrouter.ai/docs/use-cases/reasoning-tokens#preserving-reasoning-blocks). Pieces with one index, type and id
 * are one detail.
 */
export class ReasoningDetails {
  readonly #details: Growing[] = [];
  readonly #byIndex = new Map<Json, Growing[]>();
  keptBytes = 0;

  get isEmpty(): boolean {
    return this.#details.length === 0;
  }

  add(piece: JsonObject): void {
    this.#addTo(this.#continuedBy(piece) ?? this.#begin(piece), piece);
  }

  append(detail: JsonObject): void {
    this.#addTo(this.#begin(detail), detail);
  }

  #addTo(detail: Growing, piece: JsonObject): void {
    for (const [name, value] of Object.entries(piece)) this.#addMember(detail, name, value as Json);
  }

  get all(): ReadonlyArray<JsonObject> {
    return this.#details.map((detail) =>
      Object.fromEntries(
        Array.from(detail, ([name, value]) => [name, value instanceof GatheredText ? value.text : value]),
      ),
    );
  }

  /**
   * The detail that a piece continues. Without an index, that is the latest one alone, and what is encrypted comes
   * whole.
   */
  #continuedBy(piece: JsonObject): Growing | undefined {
    const index = piece.index ?? null;
    if (index !== null) return this.#byIndex.get(index)?.findLast((detail) => isOpenFor(piece, detail));
    const last = this.#details.at(-1);
    const isText = piece.type !== 'reasoning.encrypted' && (last?.get('index') ?? null) === null;
    return last !== undefined && isText && isOpenFor(piece, last) ? last : undefined;
  }

  #begin({ index = null }: JsonObject): Growing {
    const detail: Growing = new Map();
    this.#details.push(detail);
    const ofIndex = [...(this.#byIndex.get(index) ?? []), detail];
    this.#byIndex.set(index, ofIndex.slice(-maxOpen));
    this.keptBytes += bytesPerDetail;
    return detail;
  }

  #addMember(detail: Growing, name: string, value: Json): void {
    const before = detail.get(name);
    if (before instanceof GatheredText) {
      if (typeof value === 'string' && value !== '') this.keptBytes += before.add(value);
    } else if (typeof value === 'string' && textMembers.has(name)) {
      const gathered = new GatheredText();
      this.keptBytes += keptBytesOf(name) + gathered.add(value);
      detail.set(name, gathered);
    } else if (before === undefined || (value !== null && value !== before)) {
      this.keptBytes += keptBytesOf(name) + JSON.stringify(value).length;
      detail.set(name, value);
    }
  }
}

/** True if the piece may continue the detail: their types and ids are the same, or one of them does not say it. */
function isOpenFor(piece: JsonObject, detail: Growing): boolean {
  return ['type', 'id'].every((name) => {
    const [said, before] = [piece[name] ?? null, detail.get(name) ?? null];
    return said === null || before === null || said === before;
  });
}
