import type { JsonListener } from '#shared/json/json-scanner.ts';
import type { ValuePlace } from './json-members.ts';
import { type PathPattern, type PathTree, PathWalk, pathTree } from './path-tree.ts';

/** The place of a value that a pattern matches. */
export interface FoundPlace extends ValuePlace {
  readonly pattern: PathPattern;
}

type Growing = { -readonly [Key in keyof FoundPlace]: FoundPlace[Key] };

export const maxPlaces = 100_000;

/** Paths in the form in which a scan needs them. Those that never change are compiled once. */
interface CompiledPaths {
  readonly tree: PathTree<PathPattern>;
  readonly maxLevel: number;
}

export function compilePaths(patterns: ReadonlyArray<PathPattern>): CompiledPaths {
  let maxLevel = 0;
  for (const { length } of patterns) if (length > maxLevel) maxLevel = length;
  return { tree: pathTree(patterns.map((pattern) => [pattern, pattern] as const)), maxLevel };
}

export class PlaceFinder implements JsonListener {
  readonly maxLevel: number;
  readonly found: FoundPlace[] = [];
  isOverflown = false;
  readonly #walk: PathWalk<PathPattern>;
  /** For each level, what was found there and has not ended. */
  readonly #open: (Growing | null)[];

  constructor(bytes: Buffer, { tree, maxLevel }: CompiledPaths) {
    this.maxLevel = maxLevel;
    this.#walk = new PathWalk(bytes, tree);
    this.#open = new Array(maxLevel + 1).fill(null);
  }

  begin(level: number, start: number, nameStart: number, nameEnd: number): void {
    if (level > this.maxLevel) return;
    const pattern = this.#walk.begin(level, nameStart, nameEnd);
    this.#open[level] = null;
    if (pattern === null) return;
    if (this.found.length >= maxPlaces) {
      this.isOverflown = true;
      return;
    }
    const place: Growing = { pattern, valueStart: start, end: start };
    this.found.push(place);
    this.#open[level] = place;
  }

  end(level: number, end: number): void {
    const open = this.#open[level];
    if (open === null || open === undefined) return;
    open.end = end;
    this.#open[level] = null;
  }
}
