import { type PathPattern, PathWalk, pathTree } from '#gateway/framing/path-tree.ts';
import type { JsonListener } from '#shared/json/json-scanner.ts';

const message: PathPattern = ['messages', '*'];
const block: PathPattern = [...message, 'content', '*'];

const places = pathTree([
  [message, 'message'],
  [[...message, 'role'], 'role'],
  [block, 'block'],
  [[...block, 'type'], 'type'],
] as const);

/** The deepest of these: the type of a block. */
const maxLevel = 5;

/** The type of the result of a tool that runs at the provider. A client writes `tool_result` itself. */
const resultType = /^"[a-z_]+_tool_result"$/;
const maxTypeBytes = 100;

type Place = 'message' | 'role' | 'block' | 'type';

/**
 * Finds the results of the provider's own tools in the assistant's turns, which say what happened. A member that is
 * spelled with escapes, or that comes twice with another value, makes its block none of them.
 */
export class ServerToolResults implements JsonListener {
  readonly maxLevel = maxLevel;
  readonly #bytes: Buffer;
  readonly #walk: PathWalk<Place>;
  readonly #starts: number[] = [];
  readonly #places: (Place | null)[] = [];
  readonly #found: Array<{ readonly start: number; readonly end: number }> = [];
  /** The number of results before the current message. */
  #before = 0;
  #roles: string[] = [];
  #types: string[] = [];

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    this.#walk = new PathWalk<Place>(bytes, places);
  }

  /** Whether the value that begins here is inside of such a result. */
  has(offset: number): boolean {
    let [low, high] = [0, this.#found.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#found[middle]?.end ?? 0) > offset) high = middle;
      else low = middle + 1;
    }
    const next = this.#found[low];
    return next !== undefined && next.start < offset;
  }

  begin(level: number, start: number, nameStart: number, nameEnd: number): void {
    const place = this.#walk.begin(level, nameStart, nameEnd);
    this.#places[level] = place;
    this.#starts[level] = start;
    if (place === 'message') {
      this.#before = this.#found.length;
      this.#roles = [];
    } else if (place === 'block') this.#types = [];
  }

  end(level: number, end: number): void {
    const [place, start] = [this.#places[level], this.#starts[level] as number];
    if (place === 'role') this.#roles.push(this.#textOf(start, end));
    else if (place === 'type') this.#types.push(this.#textOf(start, end));
    else if (place === 'block') this.#endBlock(start, end);
    else if (place === 'message') this.#endMessage();
  }

  #endBlock(start: number, end: number): void {
    if (this.#types.length > 0 && this.#types.every((type) => resultType.test(type))) this.#found.push({ start, end });
  }

  #endMessage(): void {
    const isAssistant = this.#roles.length > 0 && this.#roles.every((role) => role === '"assistant"');
    if (!isAssistant) this.#found.length = this.#before;
  }

  #textOf(start: number, end: number): string {
    return this.#bytes.toString('latin1', start, Math.min(end, start + maxTypeBytes));
  }
}
