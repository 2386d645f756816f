import * as E from 'fp-ts/lib/Either.js';
import { Map as PersistentMap } from 'immutable';
import * as t from 'io-ts';
import type { Entity } from '#domain/shared/entity.ts';
import { noStream, type RecordedEvent } from '#event-store/event-store.ts';
import type { RecordStore } from '#records/record-store.ts';
import { withTimeout } from '#shared/async/timed-waits.ts';
import { clock } from '#shared/clock.ts';
import { EncodedJson } from '#shared/json/json.ts';
import { countedCache } from '#shared/memory/counted-cache.ts';
import { type RememberedRequest, RememberedRequests } from './idempotency.ts';
import type { StreamState } from './stream-state.ts';

/** A snapshot is due after this many events, or after this part of the stream's events if that is more. */
const minEventsBetween = 500;
const partOfStream = 0.25;

/** The limit of a MongoDB document is 16 MiB. */
const maxSnapshotCharacters = 12 * 1024 * 1024;

/** A slow read store must not delay a command, because the stream itself can be read. */
const readTimeoutMs = 500;

const maxStreamsKnown = 10_000;

/**
 * Keeps snapshots of long streams. A failure is harmless, because the stream is then read from its beginning. One
 * snapshot is taken at a time, after the command that made it due.
 */
export class StreamSnapshots {
  readonly #store: SnapshotStore;
  readonly #eventAt: (stream: string, revision: number) => Promise<RecordedEvent | undefined>;
  /** The revision of the newest useful snapshot, by stream. */
  readonly #known = countedCache<number>(maxStreamsKnown);
  #isTaking = false;

  constructor(store: SnapshotStore, eventAt: (stream: string, revision: number) => Promise<RecordedEvent | undefined>) {
    this.#store = store;
    this.#eventAt = eventAt;
  }

  /**
   * Finds a snapshot only if it is of this log, of this release and not later than the revision.
   * @throws UnavailableError if the event store cannot be read
   */
  async find<State, Events>(
    entity: Entity<State, Events>,
    stream: string,
    upTo: number,
  ): Promise<StreamState<State> | null> {
    const snapshot = await withTimeout(readTimeoutMs, this.#store.read(stream), null).catch(() => null);
    if (snapshot === null || snapshot.stateVersion !== entity.stateVersion || snapshot.revision > upTo) return null;
    const event = await this.#eventAt(stream, snapshot.revision);
    if (event?.metadata.hash !== snapshot.hash) return null;
    const state = await readSnapshot<State>(snapshot.lines).catch(() => null);
    if (state !== null) this.#known.set(stream, snapshot.revision);
    return state;
  }

  /** Takes a snapshot soon, if one is due. */
  note<State, Events>({ stateVersion }: Entity<State, Events>, stream: string, state: StreamState<State>): void {
    if (stateVersion === undefined || this.#isTaking || !this.#isDue(stream, state.revision)) return;
    this.#isTaking = true;
    void this.#take(stateVersion, stream, state).finally(() => {
      this.#isTaking = false;
    });
  }

  #isDue(stream: string, revision: number): boolean {
    if (revision < minEventsBetween) return false;
    const known = this.#known.get(stream) ?? noStream;
    return revision - known >= Math.max(minEventsBetween, known * partOfStream);
  }

  async #take(stateVersion: number, stream: string, state: StreamState<unknown>): Promise<void> {
    try {
      const { revision, hash } = state;
      // After a failure too, the next snapshot is not due immediately.
      this.#known.set(stream, revision);
      const lines = await writeSnapshot(state, maxSnapshotCharacters);
      if (lines === null || hash === null) return;
      const snapshot: StoredSnapshot = { stream, revision, hash, stateVersion, lines };
      await this.#store.save(snapshot);
    } catch {
      // The stream is read from its beginning, or from an older snapshot.
    }
  }
}

/** Number of entries that are written or read in one turn of the event loop, in about a millisecond. */
const entriesInATurn = 250;

/** The first line. The entries of maps and the remembered requests follow it in parts, one part in each line. */
interface Head extends Omit<StreamState<unknown>, 'remembered'> {
  /** Members of the state that are persistent maps. */
  readonly maps: ReadonlyArray<string>;
}

type Entries = ReadonlyArray<readonly [string, unknown]>;

type Part =
  | { readonly member: string; readonly entries: Entries }
  | { readonly remembered: ReadonlyArray<RememberedRequest> };

/**
 * Writes the snapshot as lines, each a JSON value. Persistent maps must be members of the state itself. Other requests
 * are served meanwhile.
 * @param maxCharacters of all lines together; longer ones are not written, and the result is null
 */
export async function writeSnapshot(
  { remembered, ...stream }: StreamState<unknown>,
  maxCharacters: number,
): Promise<ReadonlyArray<string> | null> {
  const { state } = stream;
  const maps = Object.entries(state ?? {}).filter((member): member is [string, Members] => isMap(member[1]));
  const plain = maps.length === 0 ? state : { ...(state as object), ...absent(maps) };
  const head: Head = { ...stream, state: plain, maps: maps.map(([member]) => member) };
  const lines = [JSON.stringify(head)];
  let characters = 0;
  for (const part of partsOf(maps, remembered)) {
    await clock.nextTurn();
    const line = JSON.stringify(part);
    characters += line.length;
    if (characters > maxCharacters) return null;
    lines.push(line);
  }
  return lines;
}

/** Reads what `writeSnapshot` has written. Other requests are served meanwhile. @throws Error if it is damaged */
export async function readSnapshot<State>([first = '', ...lines]: ReadonlyArray<string>): Promise<StreamState<State>> {
  const { maps, state, ...stream } = JSON.parse(first) as Head;
  const members = new Map<string, Members>(maps.map((member) => [member, PersistentMap()]));
  const remembered: RememberedRequest[] = [];
  for (const line of lines) {
    await clock.nextTurn();
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

/**
 * With a snapshot, a long stream need not be read from its beginning. It is a cache, so a loss only costs time. It has
 * no texts, no personal data and no secrets.
 */
export interface StoredSnapshot {
  readonly stream: string;
  /** The revision of the last event in it. */
  readonly revision: number;
  /** The hash of that event. If the event in the log has a different hash, the snapshot is of another log. */
  readonly hash: string;
  /** The `stateVersion` of the entity. */
  readonly stateVersion: number;
  /** The lines of `writeSnapshot`. At most 12 MiB. */
  readonly lines: ReadonlyArray<string>;
}

/** Stores one snapshot for each stream. */
export interface SnapshotStore {
  /** @throws UnavailableError */
  read(stream: string): Promise<StoredSnapshot | null>;
  /** Saves the snapshot in place of the stream's earlier one. @throws UnavailableError */
  save(snapshot: StoredSnapshot): Promise<void>;
}

const kind = 'snapshots';

const StoredHead = t.type({ revision: t.number, hash: t.string, stateVersion: t.number });

/**
 * The value is a list: a head, and each line. Its text is made of the lines, and taken apart, without encoding or
 * parsing them, because that would hold up other requests. A text has megabytes, so it is made in one step: each
 * further one, such as putting a bracket around it, would make another text of that size.
 */
export class RecordSnapshots implements SnapshotStore {
  readonly #records: Pick<RecordStore, 'encoded' | 'put'>;

  constructor(records: Pick<RecordStore, 'encoded' | 'put'>) {
    this.#records = records;
  }

  async read(stream: string): Promise<StoredSnapshot | null> {
    const text = (await this.#records.encoded(kind, stream))?.text ?? '';
    const headEnd = text.indexOf(separator);
    if (headEnd < 0) return null;
    const head = StoredHead.decode(JSON.parse(text.slice(1, headEnd)));
    const lines = text.slice(headEnd + separator.length, -1).split(separator);
    return E.isRight(head) ? { stream, ...head.right, lines } : null;
  }

  save({ stream, revision, hash, stateVersion, lines }: StoredSnapshot): Promise<void> {
    const head = JSON.stringify({ revision, hash, stateVersion });
    const text = [`[${head}`, ...lines.slice(0, -1), `${lines.at(-1)}]`].join(separator);
    return this.#records.put(kind, new Map([[stream, new EncodedJson(text)]]));
  }
}

/** No JSON text has a line break in itself. */
const separator = ',\n';
