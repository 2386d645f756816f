import type { Json } from '#shared/json/json.ts';

/** Returns numbers from 0 to 1, 1 excluded. */
export type Random = () => number;

/** The bytes of a value as JSON. */
export function jsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

/** Characters of one to four bytes, with some that JSON escapes. */
const characters = [...'abcdefghij KLMNOP 0123456789 "\\/\n\t{}[]:, éüßñ 日本語 \u{1f4de}\u{1f600}'].map(
  (character) => {
    return { character, bytes: jsonBytes(character) - 2 };
  },
);
/** A character of four bytes, the largest that a text with a limit in characters can hold. */
const largest = '\u{1f4de}';
const maxDepth = 200;

/** A whole number from 0 to below a limit. */
export function below(random: Random, limit: number): number {
  return Math.floor(random() * limit);
}

/** A text of `maxCharacters` characters with four bytes each: the largest with a limit in characters. */
export function largestText(random: Random, maxCharacters: number): string {
  return `${String(below(random, 10))}${largest.repeat(maxCharacters - 1)}`;
}

/** A text of nearly `bytes` bytes as JSON. */
export function randomText(random: Random, bytes: number): string {
  let text = '';
  for (let left = bytes - 2; left > 0; ) {
    const next = characters[below(random, characters.length)];
    if (next === undefined || next.bytes > left) return text;
    text += next.character;
    left -= next.bytes;
  }
  return text;
}

/**
 * A list of any JSON values.
 * @param bytes its bytes as JSON, nearly
 * @param maxValues in it
 */
export function randomJson(random: Random, bytes: number, maxValues: number): Json[] {
  const each = Math.max(4, Math.floor(bytes / maxValues));
  const items: Json[] = [];
  let [left, values] = [bytes - 2, maxValues - 1];
  while (left > 8 && values > 8) {
    const item = randomItem(random, Math.min(left, 40 * each), each);
    const size = jsonBytes(item) + 1;
    if (size > left) break;
    items.push(item);
    left -= size;
    values -= valuesIn(item);
  }
  // One text fills what is left when there may be no more values.
  return left > 4 ? [...items, 'x'.repeat(left - 3)] : items;
}

/** @param each the bytes of a value, on the average */
function randomItem(random: Random, bytes: number, each: number): Json {
  const kind = random();
  if (kind < 0.3 || bytes < 40) return randomScalar(random, Math.min(bytes, 2 * each));
  if (kind < 0.34) return nested(random, Math.min(maxDepth, Math.floor(bytes / 12)));
  const members = 1 + below(random, Math.max(1, Math.min(20, Math.floor(bytes / (each + 8)))));
  const scalars = Array.from({ length: members }, () => randomScalar(random, each));
  if (kind < 0.6) return scalars;
  return Object.fromEntries(scalars.map((value, index) => [`${below(random, 1_000)}-${index}`, value]));
}

function nested(random: Random, depth: number): Json {
  let value: Json = below(random, 10);
  for (let level = 0; level < depth; level += 1) value = random() < 0.5 ? [value] : { a: value };
  return value;
}

function randomScalar(random: Random, bytes: number): Json {
  const kind = random();
  if (kind < 0.15) return [true, false, null][below(random, 3)] ?? null;
  if (kind < 0.35) return below(random, 10 ** (1 + below(random, 9)));
  if (kind < 0.45) return random();
  // A multiple of 2, so that JSON gives it back with the same digits.
  if (kind < 0.55 && bytes > 16) return 9_007_199_254_740_992 + 2 * below(random, 1_000_000);
  return randomText(random, 2 + below(random, Math.max(1, 2 * bytes - 2)));
}

function valuesIn(value: Json): number {
  if (typeof value !== 'object' || value === null) return 1;
  return 1 + Object.values(value).reduce((sum: number, item) => sum + valuesIn(item ?? null), 0);
}
