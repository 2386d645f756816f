import * as E from 'fp-ts/lib/Either.js';
import type { Failure } from '#domain/shared/failure.ts';
import { invalidInput } from '#exchange/input-errors.ts';
import { scanJsonObject } from '#exchange/json-body.ts';
import { largeBodyBytes, turn } from '#exchange/turns.ts';
import { continueRead, type ReadBody, type ValuePlace } from '#gateway/framing/json-members.ts';
import { maxPlaces } from '#gateway/framing/json-places.ts';
import { type PathPattern, type PathTree, PathWalk, pathTree } from '#gateway/framing/path-tree.ts';
import { asciiJson, type Edit } from '#gateway/framing/splice.ts';
import { currentWorkOwner } from '#shared/async/fair-queue.ts';
import { byteTable, hasEscape, type JsonListener, stringIn } from '#shared/json/json-scanner.ts';
import type { TakenCallId } from './call-id-rules.ts';
import { readCallId, stateMark } from './call-state.ts';

const quote = 0x22;
const tilde = 0x7e;

/** Maximum size of an id. The gateway writes no longer ones. Each is read in one turn. */
const maxIdBytes = 64 * 1024;

/** Nearly all ids are so short, and have these characters alone: no state is in them, and every provider takes them. */
const maxUsualBytes = 40;
const isUsual = byteTable('abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-');

/** Edits of ids for a target that gets the request otherwise as it came. */
export class CallIdEdits {
  readonly found: Edit[] = [];
  readonly #bytes: Buffer;
  #isOverflown = false;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** Adds an edit only if the id needs one. Other values than texts are not ids. */
  add({ valueStart, end }: ValuePlace, takenOf: TakenCallId): void {
    if (this.#bytes[valueStart] !== quote || end - valueStart > maxIdBytes) return;
    if (this.#isUsual(valueStart + 1, end - 1)) return;
    const edit = callIdEditAt(this.#bytes, { valueStart, end }, takenOf);
    if (edit === null) return;
    if (this.found.length < maxPlaces) this.found.push(edit);
    else this.#isOverflown = true;
  }

  /** @param list the member with the messages or items */
  failure(list: string): Failure | null {
    if (!this.#isOverflown) return null;
    return invalidInput([{ pointer: `/${list}`, message: `has more than ${maxPlaces} ids of calls to change` }]);
  }

  #isUsual(start: number, end: number): boolean {
    if (end === start || end - start > maxUsualBytes) return false;
    let at = start;
    while (at < end && isUsual[this.#bytes[at] as number] === 1) at += 1;
    return at === end;
  }
}

/**
 * Cuts the state out of an id, and replaces an id that is refused; null for an id that stays. Where only a state is
 * cut, an id without escapes keeps its bytes.
 */
export function callIdEditAt(bytes: Buffer, { valueStart, end }: ValuePlace, takenOf: TakenCallId): Edit | null {
  const echoed = stringIn(bytes, valueStart, end);
  const { id } = readCallId(echoed);
  const taken = takenOf(id);
  if (taken === echoed) return null;
  if (taken !== id || hasEscape(bytes, valueStart, end)) return { start: valueStart, end, text: asciiJson(taken) };
  return { start: bytes.lastIndexOf(tilde, end), end: end - 1, text: '' };
}

/** The body is scanned if it may have a state, or if it is said to have ids to change. */
type FindCallIdEdits = (bytes: Buffer, hasOthers?: boolean) => ReadBody<ReadonlyArray<Edit>>;

/**
 * Makes a search for edits. Nearly no body needs one, and the others are not scanned again.
 * @param list the member with the messages or items
 * @param ids the paths of ids in one of them, each with its rule
 */
export function callIdEditsIn(list: string, ids: ReadonlyArray<readonly [PathPattern, TakenCallId]>): FindCallIdEdits {
  const paths = pathTree(ids.map(([path, rule]) => [[list, '*', ...path], rule] as const));
  const findIn = (bytes: Buffer): ReadBody<ReadonlyArray<Edit>> => {
    const finder = new IdFinder(bytes, paths);
    return continueRead(scanJsonObject(bytes, Number.POSITIVE_INFINITY, finder), () => {
      const failure = finder.edits.failure(list);
      return failure === null ? E.right(finder.edits.found) : E.left(failure);
    });
  };
  return (bytes, hasOthers = false) => {
    if (hasOthers) return findIn(bytes);
    if (bytes.length > largeBodyBytes)
      return mayHaveStateInTurns(bytes).then((mayHaveState) => (mayHaveState ? findIn(bytes) : none));
    return mayHaveState(bytes) ? findIn(bytes) : none;
  };
}

const none: E.Either<never, ReadonlyArray<Edit>> = E.right([]);

/** What a state begins with, and how an escape of `~` begins in JSON. */
const marks = [Buffer.from(stateMark), Buffer.from('\\u007')];

function mayHaveState(bytes: Buffer): boolean {
  return marks.some((mark) => bytes.includes(mark));
}

/** Number of bytes that are read in one turn of the event loop. A search takes less than an eighth of a scan. */
const bytesOfSlice = 512 * 1024;
const workOfSlice = bytesOfSlice / 8;

async function mayHaveStateInTurns(bytes: Buffer): Promise<boolean> {
  for (let start = 0; start < bytes.length; start += bytesOfSlice) {
    await turn(currentWorkOwner(), 'body', workOfSlice);
    if (mayHaveState(bytes.subarray(start, start + bytesOfSlice + stateMark.length))) return true;
  }
  return false;
}

class IdFinder implements JsonListener {
  readonly maxLevel = 5;
  readonly edits: CallIdEdits;
  readonly #walk: PathWalk<TakenCallId>;
  /** For each level, the rule of the id that is read there, and where it begins. */
  readonly #rules: (TakenCallId | null)[] = new Array(this.maxLevel + 1).fill(null);
  readonly #starts: number[] = new Array(this.maxLevel + 1).fill(0);

  constructor(bytes: Buffer, paths: PathTree<TakenCallId>) {
    this.edits = new CallIdEdits(bytes);
    this.#walk = new PathWalk(bytes, paths);
  }

  begin(level: number, start: number, nameStart: number, nameEnd: number): void {
    this.#rules[level] = this.#walk.begin(level, nameStart, nameEnd);
    this.#starts[level] = start;
  }

  end(level: number, end: number): void {
    const rule = this.#rules[level] ?? null;
    if (rule !== null) this.edits.add({ valueStart: this.#starts[level] as number, end }, rule);
  }
}
