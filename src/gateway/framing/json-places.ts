import type { JsonListener } from '#shared/json/json-scanner.ts';
import { isNamed } from '#shared/json/json-tokens.ts';
import type { Place } from './json-members.ts';

/** A path in a JSON text: names of members, and `*` for any item of a list. */
export type PathPattern = ReadonlyArray<string>;

/** The place of a value that a pattern matches. */
export interface FoundPlace extends Place {
  readonly pattern: PathPattern;
  /** The index of each list on its path, in order. */
  readonly indexes: ReadonlyArray<number>;
}

type Growing = { -readonly [Key in keyof FoundPlace]: FoundPlace[Key] };

/** The most places that are kept. */
const maxPlaces = 100_000;

/** Finds the values at some paths while a scanner reads a text. */
export class PlaceFinder implements JsonListener {
  readonly maxLevel: number;
  readonly found: FoundPlace[] = [];
  /** Whether there are more places than are kept. */
  isOverflown = false;
  readonly #bytes: Buffer;
  readonly #patterns: ReadonlyArray<PathPattern>;
  /** For each level, the patterns that match the path down to it, as bits. */
  readonly #alive: number[];
  /** For each level, the index of the latest item, or -1 for the members of an object. */
  readonly #indexes: number[];
  /** For each level, what was found there and has not ended. */
  readonly #open: (Growing | null)[];

  /** @param patterns at most 30 */
  constructor(bytes: Buffer, patterns: ReadonlyArray<PathPattern>) {
    this.#bytes = bytes;
    this.#patterns = patterns;
    let maxLevel = 0;
    for (const { length } of patterns) if (length > maxLevel) maxLevel = length;
    this.maxLevel = maxLevel;
    this.#alive = new Array(maxLevel + 1).fill(0);
    this.#indexes = new Array(maxLevel + 1).fill(-1);
    this.#open = new Array(maxLevel + 1).fill(null);
    this.#alive[0] = (1 << patterns.length) - 1;
  }

  begin(level: number, start: number, nameStart: number, nameEnd: number): void {
    if (level > 0) this.#alive[level] = this.#matchesAt(level, nameStart, nameEnd);
    if (level < this.maxLevel) this.#indexes[level + 1] = -1;
    this.#open[level] = null;
    const alive = this.#alive[level] as number;
    if (alive === 0 || level === 0) return;
    const pattern = this.#patterns.find((each, bit) => each.length === level && (alive & (1 << bit)) !== 0);
    if (pattern === undefined) return;
    if (this.found.length >= maxPlaces) {
      this.isOverflown = true;
      return;
    }
    const indexes = this.#indexes.slice(1, level + 1).filter((index) => index >= 0);
    const place: Growing = { pattern, indexes, valueStart: start, end: start };
    this.found.push(place);
    this.#open[level] = place;
  }

  end(level: number, end: number): void {
    const open = this.#open[level];
    if (open === null || open === undefined) return;
    open.end = end;
    this.#open[level] = null;
  }

  #matchesAt(level: number, nameStart: number, nameEnd: number): number {
    const isItem = nameStart === -1;
    if (isItem) (this.#indexes[level] as number) += 1;
    const before = this.#alive[level - 1] as number;
    if (before === 0) return 0;
    let alive = 0;
    for (let bit = 0; bit < this.#patterns.length; bit += 1) {
      if ((before & (1 << bit)) === 0) continue;
      const key = this.#patterns[bit]?.[level - 1];
      if (key === undefined) continue;
      if (isItem ? key === '*' : key !== '*' && isNamed(this.#bytes, nameStart, nameEnd, key)) alive |= 1 << bit;
    }
    return alive;
  }
}

/** The pointer (RFC 6901) of a found place. */
export function pointerOf({ pattern, indexes }: FoundPlace): string {
  let list = 0;
  return pattern.map((key) => `/${key === '*' ? indexes[list++] : key}`).join('');
}
