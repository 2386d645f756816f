import * as E from 'fp-ts/lib/Either.js';
import { invalidInput } from '#exchange/input-errors.ts';
import { scanJsonObject } from '#exchange/json-body.ts';
import { largeBodyBytes, turn } from '#exchange/turns.ts';
import { continueRead, type Place, type ReadBody } from '#gateway/framing/json-members.ts';
import { maxPlaces } from '#gateway/framing/json-places.ts';
import { type PathPattern, type PathTree, PathWalk, pathTree } from '#gateway/framing/path-tree.ts';
import { asciiJson, type Edit } from '#gateway/framing/splice.ts';
import { currentWorkOwner } from '#shared/async/fair-queue.ts';
import { hasEscape, type JsonListener, stringIn } from '#shared/json/json-scanner.ts';
import { readCallId, stateMark } from './call-state.ts';

/** Finds the edits that cut states out of the ids in a body. */
type FindStateCuts = (bytes: Buffer) => ReadBody<ReadonlyArray<Edit>>;

/**
 * Makes the search for the edits that cut states out of the ids of calls, for a target that gets the request as it came.
 * Nearly no body has a state, and the others are not scanned again.
 * @param list the member with the messages or items
 * @param ids the paths of ids in one of them
 */
export function stateCutsIn(list: string, ids: ReadonlyArray<PathPattern>): FindStateCuts {
  const paths = pathTree(ids.map((path) => [[list, '*', ...path], true as const] as const));
  const tooMany = invalidInput([{ pointer: `/${list}`, message: `has more than ${maxPlaces} ids with a state` }]);
  const findIn = (bytes: Buffer): ReadBody<ReadonlyArray<Edit>> => {
    const finder = new StateFinder(bytes, paths);
    const scanned = scanJsonObject(bytes, Number.POSITIVE_INFINITY, finder);
    return continueRead(scanned, () => (finder.isOverflown ? E.left(tooMany) : E.right(finder.cuts)));
  };
  return (bytes) => {
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

/** Bytes that are searched in one turn of the event loop. A search takes less than an eighth of a scan. */
const bytesOfSlice = 512 * 1024;
const workOfSlice = bytesOfSlice / 8;

async function mayHaveStateInTurns(bytes: Buffer): Promise<boolean> {
  for (let start = 0; start < bytes.length; start += bytesOfSlice) {
    await turn(currentWorkOwner(), 'body', workOfSlice);
    if (mayHaveState(bytes.subarray(start, start + bytesOfSlice + stateMark.length))) return true;
  }
  return false;
}

const quote = 0x22;
const tilde = 0x7e;

/** The gateway writes no longer ids. Each is read in one turn. */
const maxIdBytes = 64 * 1024;

/** Finds ids with a state while a scanner reads a body. */
class StateFinder implements JsonListener {
  readonly maxLevel = 5;
  readonly cuts: Edit[] = [];
  /** Whether there are more ids with a state than are kept. */
  isOverflown = false;
  readonly #bytes: Buffer;
  readonly #walk: PathWalk<true>;
  /** For each level, where the id begins that is read there; -1 for any other value. */
  readonly #starts: number[] = new Array(this.maxLevel + 1).fill(-1);

  constructor(bytes: Buffer, paths: PathTree<true>) {
    this.#bytes = bytes;
    this.#walk = new PathWalk(bytes, paths);
  }

  begin(level: number, start: number, nameStart: number, nameEnd: number): void {
    const isId = this.#walk.begin(level, nameStart, nameEnd) !== null;
    this.#starts[level] = isId && this.#bytes[start] === quote ? start : -1;
  }

  end(level: number, end: number): void {
    const valueStart = this.#starts[level] ?? -1;
    if (valueStart === -1 || end - valueStart > maxIdBytes) return;
    const cut = stateCutAt(this.#bytes, { valueStart, end });
    if (cut === null) return;
    if (this.cuts.length < maxPlaces) this.cuts.push(cut);
    else this.isOverflown = true;
  }
}

/** The edit that cuts the state out of an id; null for an id without one. An id without escapes keeps its bytes. */
export function stateCutAt(bytes: Buffer, { valueStart, end }: Place): Edit | null {
  const { id, state } = readCallId(stringIn(bytes, valueStart, end));
  if (state === null) return null;
  if (hasEscape(bytes, valueStart, end)) return { start: valueStart, end, text: asciiJson(id) };
  return { start: bytes.lastIndexOf(tilde, end), end: end - 1, text: '' };
}
