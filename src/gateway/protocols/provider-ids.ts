import * as E from 'fp-ts/lib/Either.js';
import { type Failure, failure } from '#domain/shared/failure.ts';
import { scanJsonObject } from '#exchange/json-body.ts';
import { continueRead, type ReadBody, type ValuePlace } from '#gateway/framing/json-members.ts';
import { type PathPattern, type PathTree, PathWalk, pathTree } from '#gateway/framing/path-tree.ts';
import {
  cutPointer,
  type GrowingPointer,
  maxPointerLength,
  pointerIn,
  rootPointer,
} from '#shared/json/json-pointer.ts';
import { hasEscape, isNamed, type JsonListener, maxJsonLevels, stringIn } from '#shared/json/json-scanner.ts';

/**
 * What an id names. All but `own file` lives in the account at a provider, which all tenants share. A `cited file` is
 * in the container that its citation names, a `made file` in the result of a provider's own tool.
 */
export type IdKind =
  | 'own file'
  | 'cited file'
  | 'made file'
  | 'file'
  | 'container'
  | 'vector store'
  | 'skill'
  | 'conversation'
  | 'prompt'
  | 'audio'
  | 'voice'
  | 'cache';

/** Names that in every protocol name what lives at a provider. */
export const fileNames = { file_id: 'file', file_ids: 'file' } as const;
export const hostedNames = { container: 'container', container_id: 'container', skill_id: 'skill' } as const;

export const maxIdsOfClient = 10_000;

/** Maximum number of ids in a request with the turns before it. */
export const maxIdsOfConversation = 100_000;

export interface IdRules {
  /** Names of members that hold ids, at every depth. */
  readonly names: Readonly<Record<string, IdKind>>;
  /** Paths of members whose names are ordinary words, or that name something else there. */
  readonly paths: ReadonlyArray<readonly [PathPattern, IdKind]>;
  /** Paths of JSON in which names have no meaning. */
  readonly freeJson: ReadonlyArray<PathPattern>;
}

export interface NamedId extends ValuePlace {
  readonly kind: IdKind;
  readonly pointer: string;
  readonly nameStart: number;
  readonly object: ValuePlace;
}

type Growing = { -readonly [Key in keyof ValuePlace]: ValuePlace[Key] };

const quote = 0x22;
/** Maximum size of a character of a name. */
const maxCharacterBytes = 6;
const free = Symbol('free');

class NameTable<Kind> {
  readonly #kinds: ReadonlyMap<string, Kind>;
  readonly #byLength: ReadonlyArray<ReadonlyArray<readonly [string, Kind]> | undefined>;
  readonly #minBytes: number;
  readonly #maxBytes: number;

  constructor(names: ReadonlyArray<readonly [string, Kind]>) {
    const lengths = names.map(([{ length }]) => length);
    this.#kinds = new Map(names);
    this.#minBytes = Math.min(...lengths);
    this.#maxBytes = Math.max(...lengths);
    this.#byLength = Array.from({ length: this.#maxBytes + 1 }, (_, length) =>
      lengths.includes(length) ? names.filter(([name]) => name.length === length) : undefined,
    );
  }

  /** Finds a name. The offsets include its quotes. */
  find(bytes: Buffer, start: number, end: number): Kind | null {
    const length = end - start - 2;
    if (length < this.#minBytes || length > this.#maxBytes * maxCharacterBytes) return null;
    if (hasEscape(bytes, start, end)) return this.#kinds.get(stringIn(bytes, start, end)) ?? null;
    const names = this.#byLength[length];
    if (names === undefined) return null;
    for (const [name, kind] of names) if (isNamed(bytes, start, end, name)) return kind;
    return null;
  }
}

/** Rules in the form in which a scan needs them. */
export class CompiledIdRules {
  readonly names: NameTable<IdKind>;
  readonly paths: PathTree<IdKind | typeof free>;
  /** Suspect names. Without one of these, a text has no ids. */
  readonly suspects: NameTable<true>;

  constructor({ names, paths, freeJson }: IdRules) {
    this.names = new NameTable(Object.entries<IdKind>(names));
    this.paths = pathTree<IdKind | typeof free>([...paths, ...freeJson.map((path) => [path, free] as const)]);
    const ofPaths = paths.map(([path]) => path.findLast((key) => key !== 'id') as string);
    this.suspects = new NameTable(
      [...new Set([...Object.keys(names), ...ofPaths])].map((name) => [name, true] as const),
    );
  }
}

export interface NamedIds {
  readonly found: ReadonlyArray<NamedId>;
  readonly isOverflown: boolean;
}

/** Reads names while a scanner reads a text for something else. Nearly no text has a suspect one. */
export class IdSuspicion {
  readonly maxLevel = maxJsonLevels;
  readonly #bytes: Buffer;
  readonly #rules: CompiledIdRules;
  #isRaised = false;

  constructor(bytes: Buffer, rules: CompiledIdRules) {
    this.#bytes = bytes;
    this.#rules = rules;
  }

  begin(nameStart: number, nameEnd: number): void {
    if (nameStart === -1 || this.#isRaised) return;
    this.#isRaised = this.#rules.suspects.find(this.#bytes, nameStart, nameEnd) !== null;
  }

  /** Finds ids after the scan: a text with a suspect name is scanned once more. @param maxIds those that are kept */
  findIds(maxIds: number): ReadBody<NamedIds> {
    if (!this.#isRaised) return noIds;
    const finder = new IdFinder(this.#bytes, this.#rules, maxIds);
    const scanned = scanJsonObject(this.#bytes, Number.POSITIVE_INFINITY, finder);
    return continueRead(scanned, () => E.right(finder));
  }
}

const noIds: E.Either<never, NamedIds> = E.right({ found: [], isOverflown: false });

/**
 * Finds ids at every depth, while a scanner reads a text. An id is a text that is a member's value, or an item of the
 * list that is one. Names count as they are read, with or without escapes.
 */
export class IdFinder implements JsonListener, NamedIds {
  readonly maxLevel = maxJsonLevels;
  readonly found: NamedId[] = [];
  isOverflown = false;
  readonly #bytes: Buffer;
  readonly #rules: CompiledIdRules;
  readonly #maxIds: number;
  readonly #walk: PathWalk<IdKind | typeof free>;
  /** For each level, its latest value's index in a list as a negative number, or the offset of its name. */
  readonly #keys: number[] = [0];
  readonly #nameEnds: number[] = [0];
  readonly #starts: number[] = [0];
  /** For each level, what a text there is the id of. */
  readonly #kinds: (IdKind | null)[] = [null];
  /** For each level, the place of its latest value if an id is directly inside of it. */
  readonly #objects: (Growing | null)[] = [null];
  /** For each level, the pointer of its latest value if an id is in it. */
  readonly #pointers: (GrowingPointer | null)[] = [rootPointer];
  #freeLevel = Number.POSITIVE_INFINITY;
  #open: Growing | null = null;

  constructor(bytes: Buffer, rules: CompiledIdRules, maxIds: number) {
    this.#bytes = bytes;
    this.#rules = rules;
    this.#maxIds = maxIds;
    this.#walk = new PathWalk(bytes, rules.paths);
  }

  begin(level: number, start: number, nameStart: number, nameEnd: number): void {
    if (level > this.#freeLevel || this.isOverflown) return;
    this.#freeLevel = Number.POSITIVE_INFINITY;
    const isItem = nameStart === -1;
    this.#keys[level] = isItem ? Math.min(this.#keys[level] as number, 0) - 1 : nameStart;
    this.#keys[level + 1] = 0;
    this.#nameEnds[level] = nameEnd;
    this.#starts[level] = start;
    this.#objects[level] = null;
    this.#pointers[level] = level === 0 ? rootPointer : null;
    const atPath = this.#walk.begin(level, nameStart, nameEnd);
    if (atPath === free) {
      this.#freeLevel = level;
      return;
    }
    const kind = atPath ?? (isItem ? this.#kindOfItem(level) : this.#rules.names.find(this.#bytes, nameStart, nameEnd));
    this.#kinds[level] = isItem ? null : kind;
    if (kind !== null && this.#bytes[start] === quote) this.#add(kind, level, start);
  }

  end(level: number, end: number): void {
    if (level > this.#freeLevel) return;
    if (this.#open !== null) {
      this.#open.end = end;
      this.#open = null;
    }
    const object = this.#objects[level];
    if (object !== null && object !== undefined) object.end = end;
  }

  #kindOfItem(level: number): IdKind | null {
    return level === 0 ? null : (this.#kinds[level - 1] ?? null);
  }

  #add(kind: IdKind, level: number, start: number): void {
    if (this.found.length >= this.#maxIds) {
      this.isOverflown = true;
      return;
    }
    const objectLevel = (this.#keys[level] as number) < 0 ? level - 2 : level - 1;
    this.#objects[objectLevel] ??= { valueStart: this.#starts[objectLevel] as number, end: -1 };
    const id = {
      kind,
      pointer: this.#pointerAt(level).text,
      nameStart: this.#keys[objectLevel + 1] as number,
      valueStart: start,
      end: start,
      object: this.#objects[objectLevel] as ValuePlace,
    };
    this.found.push(id);
    this.#open = id;
  }

  /** Each value's pointer is made once, and ids in the same object or list share it: names can be long and many. */
  #pointerAt(level: number): GrowingPointer {
    const known = this.#pointers[level];
    if (known !== null && known !== undefined) return known;
    const pointer = this.#pointerIn(this.#pointerAt(level - 1), level);
    this.#pointers[level] = pointer;
    return pointer;
  }

  #pointerIn(around: GrowingPointer, level: number): GrowingPointer {
    const [key, nameEnd] = [this.#keys[level] as number, this.#nameEnds[level] as number];
    if (around.isCut) return around;
    if (key < 0) return pointerIn(around, String(-key - 1));
    // A longer name has no place in the pointer, and is not read.
    const maxBytes = maxCharacterBytes * (maxPointerLength - around.text.length);
    if (nameEnd - key > maxBytes) return cutPointer(around);
    return pointerIn(around, stringIn(this.#bytes, key, nameEnd));
  }
}

/** Maximum number of files in a client's request; a file counts as often as it is named. */
const maxFiles = 1_000;

/**
 * Refuses ids of a client's request: too many files, before one is looked up; and what lives at a provider.
 * @param instead what the client can do without the id of a file
 */
export function refuseIds({ found, isOverflown }: NamedIds, instead = leaveOut): Failure | null {
  const beyond = found.filter(({ kind }) => kind === 'own file' || kind === 'file')[maxFiles];
  if (beyond !== undefined) return tooManyFiles(beyond.pointer);
  // An id that was not read might name what lives at a provider.
  if (isOverflown) return tooManyIds;
  const elsewhere = found.find(({ kind }) => kind !== 'own file');
  return elsewhere === undefined ? null : notHere(elsewhere, elsewhere.kind === 'file' ? instead : leaveOut);
}

const leaveOut = 'Leave it out.';

export const tooManyIds = failure('too-many-files', 'The request names too many files and other resources.');

function tooManyFiles(pointer: string): Failure {
  const detail = `${pointer} is beyond the limit: a request may name ${maxFiles} files, each as often as it names it.`;
  return failure('too-many-files', detail, {
    errors: [{ pointer, message: `is beyond the limit of ${maxFiles} files` }],
  });
}

/** The failure for what lives at a provider: nothing says that it belongs to this project. */
export function notHere({ pointer, kind }: Pick<NamedId, 'pointer' | 'kind'>, instead = leaveOut): Failure {
  const named = kind === 'cited file' || kind === 'made file' ? 'file' : kind;
  const detail = `${pointer} names a ${named} at the provider, which this key cannot access. ${instead}`;
  return failure('provider-resource-not-found', detail, { errors: [{ pointer, message: 'must be left out' }] });
}
