import * as E from 'fp-ts/lib/Either.js';
import type { Failure, InputError } from '#domain/shared/failure.ts';
import { invalidInput } from '#exchange/input-errors.ts';
import { scanJsonObject } from '#exchange/json-body.ts';
import type { Json } from '#shared/json/json.ts';
import { pointerTo } from '#shared/json/json-pointer.ts';
import { hasEscape, isNamed, type JsonListener, stringIn } from '#shared/json/json-scanner.ts';

const quote = 0x22;
const openBracket = 0x5b;
const openBrace = 0x7b;

export interface ValuePlace {
  readonly valueStart: number;
  /** The offset after its last byte. */
  readonly end: number;
}

export interface Member extends ValuePlace {
  readonly name: string;
  /** The offset of the name's opening quote. */
  readonly start: number;
  /** The offset after the previous member; null for the first one. */
  readonly previousEnd: number | null;
  /** The start of the next member; null for the last one. */
  readonly nextStart: number | null;
  /** The number of values directly inside its value. */
  readonly size: number;
  /** The members inside; null if none are wanted there or the value is not an object. */
  readonly inside: Members | null;
}

/** The members of an object, in order. A name that occurs twice has two entries. */
export interface Members {
  /** The offset of the object's opening brace. */
  readonly open: number;
  /** The number of all members of the object, wanted or not. */
  readonly count: number;
  readonly found: ReadonlyArray<Member>;
  /** Names that differ only in case from those with a fixed spelling, each once. */
  readonly otherSpellings: ReadonlySet<string>;
}

/** Names, with the names that are wanted inside of each. */
interface WantedNames {
  readonly inside: ReadonlyMap<string, WantedNames | null>;
  readonly byLength: ReadonlyMap<number, ReadonlyArray<string>>;
  readonly longest: number;
  /** Names in lower case, whose other spellings are collected too. */
  readonly spelledSo: ReadonlySet<string>;
  readonly spelledLengths: ReadonlySet<number>;
}

/**
 * @param names each with the names that are wanted inside its value
 * @param spelledSo names, in lower case, whose spellings in other case are collected too
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

/** Maximum number of found members, because each is kept, and all members of a name are replaced. */
const maxFoundMembers = 100;

const none: ReadonlySet<string> = new Set();

type Growing = { -readonly [Key in keyof Member]: Member[Key] };

export class MemberCollector implements JsonListener, Members {
  readonly maxLevel: number;
  readonly found: Member[] = [];
  open = -1;
  count = 0;
  /** The wanted name that was one too many, with the names around it; null if none was. */
  repeated: string | null = null;
  readonly #bytes: Buffer;
  readonly #level: number;
  readonly #wanted: WantedNames;
  #current: Growing | null = null;
  #inside: MemberCollector | null = null;
  /** The latest member if it is wanted; else null. */
  #latest: Growing | null = null;
  #previousEnd: number | null = null;
  #otherSpellings: Set<string> | null = null;

  constructor(bytes: Buffer, wanted: WantedNames, level = 0) {
    this.#bytes = bytes;
    this.#wanted = wanted;
    this.#level = level;
    this.maxLevel = level + 2;
  }

  get otherSpellings(): ReadonlySet<string> {
    return this.#otherSpellings ?? none;
  }

  /** The name of the current member; null between members. */
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

  /** A name without its escapes (`"\u006dodel"` is `model`, too); null if it is not wanted. */
  #wantedName(start: number, end: number): string | null {
    const bytes = this.#bytes;
    const length = end - start - 2;
    const { byLength, inside, longest, spelledSo, spelledLengths } = this.#wanted;
    // A character takes at most six bytes.
    if (length > 6 * longest) return null;
    const isEscaped = hasEscape(bytes, start, end);
    if (!isEscaped) for (const name of byLength.get(length) ?? []) if (isNamed(bytes, start, end, name)) return name;
    if (!isEscaped && !spelledLengths.has(length)) return null;
    const name = stringIn(bytes, start, end);
    if (inside.has(name)) return name;
    if (spelledSo.has(name.toLowerCase())) {
      this.#otherSpellings ??= new Set();
      this.#otherSpellings.add(name);
    }
    return null;
  }
}

/** A request: bytes, and the offsets of the members that the gateway reads. It is never parsed as a whole. */
export interface JsonRequest {
  readonly bytes: Buffer;
  readonly members: Members;
  /** The number of values in it. */
  readonly values: number;
}

/** What was read of a body, or why it is refused: immediately for a small body, later for a large one. */
export type ReadBody<Value> = E.Either<Failure, Value> | Promise<E.Either<Failure, Value>>;

/**
 * Reads a body, which must be a JSON object. It is read in slices, with a turn of the event loop between two slices.
 * @param maxValues in the body
 */
export function readJsonRequest(bytes: Buffer, wanted: WantedNames, maxValues: number): ReadBody<JsonRequest> {
  return readMembers(bytes, new MemberCollector(bytes, wanted), maxValues);
}

/**
 * Reads a body, which must be a JSON object. A small one is read immediately.
 * @param members the listener fills them
 */
export function readMembers(
  bytes: Buffer,
  members: MemberCollector,
  maxValues: number,
  listener: JsonListener = members,
): ReadBody<JsonRequest> {
  return continueRead(scanJsonObject(bytes, maxValues, listener), (values) => {
    if (members.repeated === null) return E.right({ bytes, members, values });
    const message = `comes too often: the members that the gateway reads may come ${maxFoundMembers} times in all`;
    return E.left(invalidInput([{ pointer: `/${members.repeated}`, message }]));
  });
}

/** Continues immediately if the body was read immediately. */
export function continueRead<Value, Next>(
  read: ReadBody<Value>,
  next: (value: Value) => ReadBody<Next>,
): ReadBody<Next> {
  if (read instanceof Promise) return read.then((value) => (E.isLeft(value) ? value : next(value.right)));
  return E.isLeft(read) ? read : next(read.right);
}

/** The last one, as for JSON.parse. */
export function lastMember({ found }: Members, name: string): Member | undefined {
  return found.findLast((member) => member.name === name);
}

/** The value as `scalarValue` gives it; undefined without such a member. */
export function scalarMember(bytes: Buffer, members: Members, name: string): Json | undefined {
  const member = lastMember(members, name);
  return member === undefined ? undefined : scalarValue(bytes, member);
}

/** Maximum size of a number. No longer one can be represented. */
const maxNumberBytes = 1_024;

/** A string, number, boolean or null unchanged, and an empty array or object for any array or object. */
export function scalarValue(bytes: Buffer, { valueStart, end }: ValuePlace): Json {
  const first = bytes[valueStart];
  if (first === openBrace) return {};
  if (first === openBracket) return [];
  if (first === quote) return stringIn(bytes, valueStart, end);
  return end - valueStart > maxNumberBytes
    ? Number.POSITIVE_INFINITY
    : JSON.parse(bytes.toString('latin1', valueStart, end));
}

const maxShownLength = 200;

/** Quotes only short values, so that no prompt is sent back. */
export function inputError(pointer: string, message: string, value: Json): InputError {
  const isShown =
    value === null ||
    typeof value === 'boolean' ||
    (typeof value === 'number' && Number.isFinite(value)) ||
    (typeof value === 'string' && value.length <= maxShownLength);
  return isShown ? { pointer, message, input: value } : { pointer, message };
}

const noFaults: ReadonlyArray<InputError> = [];

export function checkText(pointer: string, value: Json | undefined): ReadonlyArray<InputError> {
  if (value === undefined) return [{ pointer, message: 'is required' }];
  return typeof value === 'string' ? noFaults : [inputError(pointer, 'must be a string', value)];
}

/** Checks a flag. Null and a missing value are false. */
export function checkFlag(pointer: string, value: Json | undefined): ReadonlyArray<InputError> {
  const isFlag = value === undefined || value === null || typeof value === 'boolean';
  return isFlag ? noFaults : [inputError(pointer, 'must be true or false', value)];
}

/**
 * The gateway replaces `model` by the name in the catalogue. A provider that ignores case would read `Model` instead,
 * which the catalogue has not checked.
 * @param names the names of a request's members or parts, each once
 * @param resolved the names, in lower case, whose values the gateway resolves
 * @returns a fault for each spelling
 */
export function spellingFaults(names: ReadonlySet<string>, resolved: ReadonlyArray<string>): ReadonlyArray<InputError> {
  if (names.size === 0) return noFaults;
  const faults: InputError[] = [];
  for (const name of names) {
    for (const expected of resolved) {
      if (name.length !== expected.length || name === expected || name.toLowerCase() !== expected) continue;
      faults.push({ pointer: pointerTo([name]), message: `must be spelled "${expected}"` });
    }
  }
  return faults;
}
