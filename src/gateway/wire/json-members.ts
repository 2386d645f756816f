import type { Json } from '#shared/json/json.ts';
import type { JsonListener } from '#shared/json/json-scanner.ts';
import { hasEscape, isNamed, stringIn } from '#shared/json/json-string.ts';

const quote = 0x22;
const openBracket = 0x5b;
const openBrace = 0x7b;

/** Where a value is in its bytes. */
export interface Place {
  readonly valueStart: number;
  /** The offset past it. */
  readonly end: number;
}

/** A member of a JSON object in its bytes. */
export interface Member extends Place {
  readonly name: string;
  /** The offset of the name's opening quote. */
  readonly start: number;
  /** The offset past the member before it; null for the first one. */
  readonly previousEnd: number | null;
  /** The start of the member behind it; null for the last one. */
  readonly nextStart: number | null;
  /** How many values are directly inside of its value. */
  readonly size: number;
  /** What was looked for inside of its value; null where nothing was, or the value is no object. */
  readonly inside: Members | null;
}

/** The members of an object that were looked for, in order, every one of a doubled name. */
export interface Members {
  /** The offset of the object's brace. */
  readonly open: number;
  /** How many members the object has, those included that were not looked for. */
  readonly count: number;
  readonly found: ReadonlyArray<Member>;
  /** Names that differ in case alone from those that must be spelled as they are, each once. */
  readonly otherSpellings: ReadonlySet<string>;
}

/** Names of members to look for, and those to look for inside of each. */
export interface WantedNames {
  readonly inside: ReadonlyMap<string, WantedNames | null>;
  readonly byLength: ReadonlyMap<number, ReadonlyArray<string>>;
  readonly longest: number;
  /** Those of which other spellings are collected, too; in lower case. */
  readonly spelledSo: ReadonlySet<string>;
  readonly spelledLengths: ReadonlySet<number>;
}

/**
 * Makes the names to look for.
 * @param names each with those to look for inside of its value
 * @param spelledSo names, in lower case, of which other spellings in case are looked for, too
 */
export function wantedNames(
  names: Readonly<Record<string, ReadonlyArray<string>>>,
  spelledSo: ReadonlyArray<string> = [],
): WantedNames {
  const all = Object.entries(names);
  const none = (inside: ReadonlyArray<string>) => inside.map((name) => [name, []] as const);
  return {
    inside: new Map(
      all.map(([name, inside]) => [name, inside.length === 0 ? null : wantedNames(Object.fromEntries(none(inside)))]),
    ),
    byLength: Map.groupBy(Object.keys(names), ({ length }) => length),
    longest: Math.max(0, ...all.map(([name]) => name.length)),
    spelledSo: new Set(spelledSo),
    spelledLengths: new Set(spelledSo.map(({ length }) => length)),
  };
}

/** Members found at most: each is kept, and all of a doubled name are replaced. */
export const maxFoundMembers = 100;

type Growing = { -readonly [Key in keyof Member]: Member[Key] };

/** Collects the wanted members of an object while a scanner reads it. */
export class MemberCollector implements JsonListener, Members {
  readonly maxLevel: number;
  readonly found: Member[] = [];
  readonly otherSpellings = new Set<string>();
  open = -1;
  count = 0;
  /** The name that came when enough had been found, after the name of what it is inside of; null where none did. */
  repeated: string | null = null;
  readonly #bytes: Buffer;
  readonly #level: number;
  readonly #wanted: WantedNames;
  #current: Growing | null = null;
  #inside: MemberCollector | null = null;
  /** The latest member, where it was wanted. */
  #latest: Growing | null = null;
  #previousEnd: number | null = null;

  /** @param level of the object */
  constructor(bytes: Buffer, wanted: WantedNames, level = 0) {
    this.#bytes = bytes;
    this.#wanted = wanted;
    this.#level = level;
    this.maxLevel = level + 2;
  }

  /** The name of the wanted member whose value is being read; null between those. */
  get current(): string | null {
    return this.#current?.name ?? null;
  }

  begin(level: number, start: number, nameStart: number, nameEnd: number): void {
    const depth = level - this.#level;
    if (depth === 0) this.open = start;
    else if (depth === 1) this.#memberBegins(start, nameStart, nameEnd);
    else if (this.#current !== null && depth === 2) {
      this.#current.size += 1;
      this.#inside?.begin(level, start, nameStart, nameEnd);
    }
  }

  end(level: number, end: number): void {
    const depth = level - this.#level;
    if (depth === 2) this.#inside?.end(level, end);
    else if (depth === 1) this.#memberEnds(end);
  }

  #memberBegins(start: number, nameStart: number, nameEnd: number): void {
    this.count += 1;
    if (this.#latest !== null) this.#latest.nextStart = nameStart;
    this.#latest = null;
    const name = nameStart === -1 ? null : this.#wantedName(nameStart, nameEnd);
    if (name === null) return;
    if (this.found.length === maxFoundMembers) {
      this.repeated ??= name;
      return;
    }
    const wantedInside = this.#wanted.inside.get(name) ?? null;
    if (wantedInside !== null && this.#bytes[start] === openBrace) {
      this.#inside = new MemberCollector(this.#bytes, wantedInside, this.#level + 1);
      this.#inside.open = start;
    }
    this.#current = {
      name,
      start: nameStart,
      valueStart: start,
      end: start,
      previousEnd: this.#previousEnd,
      nextStart: null,
      size: 0,
      inside: this.#inside,
    };
    this.#latest = this.#current;
    this.found.push(this.#current);
  }

  #memberEnds(end: number): void {
    if (this.#current !== null) this.#current.end = end;
    if (this.#inside?.repeated != null) this.repeated ??= `${this.current}/${this.#inside.repeated}`;
    this.#current = null;
    this.#inside = null;
    this.#previousEnd = end;
  }

  /** A name with its escapes read (`"\u006dodel"` is `model`, too); null where it is not wanted. */
  #wantedName(start: number, end: number): string | null {
    const bytes = this.#bytes;
    const length = end - start - 2;
    const { byLength, inside, longest, spelledSo, spelledLengths } = this.#wanted;
    // A character takes six bytes at most.
    if (length > 6 * longest) return null;
    const isEscaped = hasEscape(bytes, start, end);
    if (!isEscaped) for (const name of byLength.get(length) ?? []) if (isNamed(bytes, start, end, name)) return name;
    if (!isEscaped && !spelledLengths.has(length)) return null;
    const name = stringIn(bytes, start, end);
    if (inside.has(name)) return name;
    if (spelledSo.has(name.toLowerCase())) this.otherSpellings.add(name);
    return null;
  }
}

/** The member of a name that counts: the last one, as for JSON.parse. */
export function lastMember({ found }: Members, name: string): Member | undefined {
  return found.findLast((member) => member.name === name);
}

/** What the member of a name says, as `briefValue` gives it; undefined where there is none. */
export function briefMember(bytes: Buffer, members: Members, name: string): Json | undefined {
  const member = lastMember(members, name);
  return member === undefined ? undefined : briefValue(bytes, member);
}

/** Bytes of a number at most that is read: beyond it none can be held. */
const maxNumberBytes = 1_024;

/**
 * A member's value: a string, number, flag or null as it is. Of an array or object only that it is one: an empty one
 * is in its place.
 */
export function briefValue(bytes: Buffer, { valueStart, end }: Place): Json {
  const first = bytes[valueStart];
  if (first === openBrace) return {};
  if (first === openBracket) return [];
  if (first === quote) return stringIn(bytes, valueStart, end);
  return end - valueStart > maxNumberBytes
    ? Number.POSITIVE_INFINITY
    : JSON.parse(bytes.toString('latin1', valueStart, end));
}
