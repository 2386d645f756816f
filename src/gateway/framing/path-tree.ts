import { hasEscape, isNamed, stringIn } from '#shared/json/json-scanner.ts';

/** A path in a JSON text: names of members, and `*` for any item of a list. */
export type PathPattern = ReadonlyArray<string>;

/** Paths by their keys, so that a walk compares the keys of one level only. */
export interface PathTree<Value> {
  /** The value of the path that ends here; null if none does. */
  readonly value: Value | null;
  readonly item: PathTree<Value> | null;
  readonly members: ReadonlyArray<readonly [string, PathTree<Value>]>;
}

export function pathTree<Value>(paths: ReadonlyArray<readonly [PathPattern, Value]>): PathTree<Value> {
  const [, value = null] = paths.find(([path]) => path.length === 0) ?? [];
  const below = Map.groupBy(
    paths.filter(([path]) => path.length > 0),
    ([[key]]) => key as string,
  );
  const branches = [...below].map(
    ([key, entries]) => [key, pathTree(entries.map(([path, each]) => [path.slice(1), each] as const))] as const,
  );
  const item = branches.find(([key]) => key === '*')?.[1] ?? null;
  return { value, item, members: branches.filter(([key]) => key !== '*') };
}

/** Maximum bytes of a name in a tree, with all of its characters escaped. */
const maxNameBytes = 512;

export class PathWalk<Value> {
  readonly #bytes: Buffer;
  /** For each level, where the path of its latest value is in the tree; null if no path leads there. */
  readonly #nodes: (PathTree<Value> | null)[];

  constructor(bytes: Buffer, tree: PathTree<Value>) {
    this.#bytes = bytes;
    this.#nodes = [tree];
  }

  /**
   * @param nameStart the offset of its name's opening quote; -1 for an item of a list
   * @returns the value of its path; null if none ends there
   */
  begin(level: number, nameStart: number, nameEnd: number): Value | null {
    if (level === 0) return null;
    const above = this.#nodes[level - 1] ?? null;
    const node = above === null ? null : this.#below(above, nameStart, nameEnd);
    this.#nodes[level] = node;
    return node === null ? null : node.value;
  }

  #below({ item, members }: PathTree<Value>, nameStart: number, nameEnd: number): PathTree<Value> | null {
    if (nameStart === -1) return item;
    if (members.length > 1 && hasEscape(this.#bytes, nameStart, Math.min(nameEnd, nameStart + maxNameBytes))) {
      if (nameEnd - nameStart > maxNameBytes) return null;
      // Its escapes are read once, not for each name that it may be.
      const text = stringIn(this.#bytes, nameStart, nameEnd);
      return members.find(([name]) => name === text)?.[1] ?? null;
    }
    for (const [name, node] of members) if (isNamed(this.#bytes, nameStart, nameEnd, name)) return node;
    return null;
  }
}
