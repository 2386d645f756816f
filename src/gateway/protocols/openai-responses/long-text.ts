import { randomUUID } from 'node:crypto';
import type { GatheredText } from '#gateway/neutral/gathered-text.ts';
import { textPieces } from '#gateway/neutral/text-pieces.ts';
import type { Json, JsonObject } from '#shared/json/json.ts';

/** Maximum size of a joined text. A larger one is kept and written in pieces. */
const maxJoinedBytes = 1024 * 1024;

/** The place of a long text while JSON is written. No provider knows it. */
const mark = randomUUID();

let found: LongText[] = [];

/** A text in a value that is written as JSON. Several events repeat it, so it is kept once, as its pieces. */
export class LongText {
  readonly #pieces: ReadonlyArray<string>;

  constructor(pieces: ReadonlyArray<string>) {
    this.#pieces = pieces;
  }

  /** Called by `JSON.stringify`. */
  toJSON(): string {
    found.push(this);
    return mark;
  }

  /** The parts as they are between the quotes of JSON. Each is made when it is needed. */
  *parts(): Generator<string, undefined> {
    for (const piece of this.#pieces)
      for (const { text } of textPieces({ kind: 'text', text: piece })) yield JSON.stringify(text).slice(1, -1);
    return undefined;
  }
}

export function gatheredText(gathered: GatheredText): Json {
  return gathered.bytes > maxJoinedBytes ? (new LongText(gathered.pieces) as unknown as Json) : gathered.text;
}

/** Splits a value into its long texts and the JSON around them. */
export function jsonParts(value: JsonObject): ReadonlyArray<string | LongText> {
  found = [];
  const written = JSON.stringify(value);
  if (found.length === 0) return [written];
  const texts = found;
  found = [];
  return written.split(mark).flatMap((around, index) => [around, ...texts.slice(index, index + 1)]);
}
