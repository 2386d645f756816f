import type { ValuePlace } from '#gateway/framing/json-members.ts';
import type { Json, JsonObject } from '#shared/json/json.ts';
import { type JsonListener, stringIn } from '#shared/json/json-scanner.ts';

/** Limits of what is kept and parsed: a provider has few settings of its own. */
const maxMembers = 100;
const maxBytes = 256 * 1024;

type Growing = { -readonly [Key in keyof ValuePlace]: ValuePlace[Key] } & { nameStart: number; nameEnd: number };

/** Members of a body that are not among some names, found while a scanner reads it. */
export class OtherMembers implements JsonListener {
  readonly maxLevel = 1;
  readonly #bytes: Buffer;
  readonly #names: ReadonlySet<string>;
  readonly #longest: number;
  readonly #found: Growing[] = [];
  #length = 0;
  #current: Growing | null = null;
  #parsed: JsonObject | null = null;

  /** @param names in ASCII */
  constructor(bytes: Buffer, names: ReadonlySet<string>) {
    this.#bytes = bytes;
    this.#names = names;
    this.#longest = Math.max(0, ...Array.from(names, ({ length }) => length));
  }

  begin(level: number, start: number, nameStart: number, nameEnd: number): void {
    if (level !== 1 || this.#isFull || this.#isNamed(nameStart, nameEnd)) return;
    this.#current = { nameStart, nameEnd, valueStart: start, end: start };
    this.#found.push(this.#current);
  }

  end(level: number, end: number): void {
    if (level !== 1 || this.#current === null) return;
    this.#current.end = end;
    this.#length += end - this.#current.nameStart;
    this.#current = null;
  }

  /** Parses the members; null if they are too large for one turn of the event loop. */
  parse(): JsonObject | null {
    if (this.#isFull) return null;
    this.#parsed ??= Object.fromEntries(
      this.#found.map(({ nameStart, nameEnd, valueStart, end }) => [
        stringIn(this.#bytes, nameStart, nameEnd),
        JSON.parse(this.#bytes.toString('utf8', valueStart, end)) as Json,
      ]),
    );
    return this.#parsed;
  }

  get #isFull(): boolean {
    return this.#found.length > maxMembers || this.#length > maxBytes;
  }

  /** A character of a name takes at most six bytes. */
  #isNamed(start: number, end: number): boolean {
    return end - start - 2 <= 6 * this.#longest && this.#names.has(stringIn(this.#bytes, start, end));
  }
}
