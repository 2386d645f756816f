import { setImmediate as nextTurn } from 'node:timers/promises';
import { Map as PersistentMap } from 'immutable';
import { type RememberedRequest, RememberedRequests } from '#application/commands/remembered-requests.ts';
import type { StreamState } from '#application/commands/stream-state.ts';

/** The entries that are written or read in one turn of the event loop, which takes about a millisecond. */
const entriesInATurn = 250;

/** The first line. The entries of maps and the remembered requests follow it in parts, one part in each line. */
interface Head extends Omit<StreamState<unknown>, 'remembered'> {
  /** The members of the state that are persistent maps. */
  readonly maps: ReadonlyArray<string>;
}

type Entries = ReadonlyArray<readonly [string, unknown]>;

type Part =
  | { readonly member: string; readonly entries: Entries }
  | { readonly remembered: ReadonlyArray<RememberedRequest> };

/**
 * Writes a stream's state as JSON, one value a line. Persistent maps must be members of the state itself. Others are
 * served meanwhile.
 * @param maxCharacters the most characters; a longer text is not written, and the result is null
 */
export async function writeSnapshot(
  { remembered, ...stream }: StreamState<unknown>,
  maxCharacters: number,
): Promise<string | null> {
  const { state } = stream;
  const maps = Object.entries(state ?? {}).filter((member): member is [string, Members] => isMap(member[1]));
  const plain = maps.length === 0 ? state : { ...(state as object), ...absent(maps) };
  const head: Head = { ...stream, state: plain, maps: maps.map(([member]) => member) };
  const lines = [JSON.stringify(head)];
  let characters = 0;
  for (const part of partsOf(maps, remembered)) {
    await nextTurn();
    const line = JSON.stringify(part);
    characters += line.length;
    if (characters > maxCharacters) return null;
    lines.push(line);
  }
  return lines.join('\n');
}

/** Reads a text of `writeSnapshot`. Other requests are served meanwhile. @throws Error if it is damaged */
export async function readSnapshot<State>(text: string): Promise<StreamState<State>> {
  const [first = '', ...lines] = text.split('\n');
  const { maps, state, ...stream } = JSON.parse(first) as Head;
  const members = new Map<string, Members>(maps.map((member) => [member, PersistentMap()]));
  const remembered: RememberedRequest[] = [];
  for (const line of lines) {
    await nextTurn();
    const part = JSON.parse(line) as Part;
    if ('remembered' in part) remembered.push(...part.remembered);
    else members.set(part.member, withEntries(members.get(part.member) ?? PersistentMap(), part.entries));
  }
  const whole = maps.length === 0 ? state : { ...(state as object), ...Object.fromEntries(members) };
  return { ...stream, state: whole as State, remembered: RememberedRequests.from(remembered) };
}

type Members = PersistentMap<string, unknown>;

const isMap = (value: unknown): value is Members => PersistentMap.isMap(value);

const absent = (maps: ReadonlyArray<readonly [string, unknown]>) =>
  Object.fromEntries(maps.map(([member]) => [member, undefined]));

function* partsOf(
  maps: ReadonlyArray<readonly [string, Members]>,
  remembered: RememberedRequests,
): Generator<Part, void, void> {
  for (const [member, map] of maps) for (const entries of inParts(map)) yield { member, entries };
  for (const requests of inParts(remembered)) yield { remembered: requests };
}

function* inParts<Item>(items: Iterable<Item>): Generator<ReadonlyArray<Item>, void, void> {
  let part: Item[] = [];
  for (const item of items) {
    part.push(item);
    if (part.length < entriesInATurn) continue;
    yield part;
    part = [];
  }
  if (part.length > 0) yield part;
}

function withEntries(map: Members, entries: Entries): Members {
  return map.withMutations((mutable) => {
    for (const [key, value] of entries) mutable.set(key, value);
  });
}
