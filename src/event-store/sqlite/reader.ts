import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import type { MessagePort } from 'node:worker_threads';
import { isShortenedOnPurpose } from '#domain/stream-kinds.ts';
import { type ChangeListener, listenForChanges } from '#event-store/change-notifications.ts';
import type { StoredEvent } from '#event-store/event-store.ts';
import {
  type EventStore,
  maxPartCharacters,
  noStream,
  type RecordedEvent,
  type StreamPart,
} from '#event-store/event-store.ts';
import type { LogPage, LogPageRequest, LogPages } from '#event-store/log-pages.ts';
import { asStored, LazyEvent, recordedEvent, type Upcast } from '#event-store/recorded-event.ts';
import type { StreamRemoval } from '#event-store/stream-removal.ts';
import type { RawEvent, RawLog } from '#event-store/transfer/raw-log.ts';
import { gapIn, type StreamGap, UnreadableStreamError } from '#event-store/unreadable-stream.ts';
import { runInTurn } from '#exchange/turns.ts';
import { workForAll } from '#shared/async/fair-queue.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { openEventFileForReading, streamRangeSql } from './event-file.ts';

/** Maximum length of the JSON in a page; a single event may have more. Parsed, it may take 40 times as much memory. */
const maxPageCharacters = 1024 * 1024;

/** Maximum length of one answer to `readRawLog`; a single event may have more. */
const maxRawCharacters = 4 * 1024 * 1024;

/** Maximum number of positions that one page scans for some event types, so that no read takes long. */
const maxFilteredPositions = 20_000;

/** Reads events, also as they are stored. */
export interface EventReader
  extends Pick<EventStore, 'read' | 'lastPosition'>,
    LogPages,
    Pick<StreamRemoval, 'streamNames'>,
    RawLog {
  /** Reads events as stored, not upcast: what `verifyChain` takes. @throws UnavailableError; UnreadableStreamError */
  readRaw(stream: string, fromRevision: number, limit?: number): ReadonlyArray<StoredEvent>;
  /**
   * Reads events as stored, not upcast. Stops early, after at least one event, if the texts are large.
   * @throws UnavailableError
   */
  readRawLog(after: number, limit: number): ReadonlyArray<RawEvent>;
  /** Ends the waits for changes, too. */
  close(): Promise<void>;
}

export interface EventReaderOptions {
  /** A file that a store has open. */
  readonly file: string;
  /** Without it, data comes as stored. */
  readonly upcast?: Upcast;
  /** The port from `changePort` of the store, which signals new events. The reader closes it. */
  readonly wake: MessagePort;
}

/** Opens a reader for another thread than the store's. */
export function openSqliteEventReader(options: EventReaderOptions): EventReader {
  return new SqliteEventReader(options.file, options.upcast ?? asStored, listenForChanges(options.wake), () =>
    options.wake.close(),
  );
}

const columns = 'position, stream, revision, id, type, data, metadata';

/** A row in the order of `columns`. */
type Row = readonly [number, string, number, string, string, string, string];

/** Parameters by name, or in order. */
type Parameters = [Record<string, string | number>] | Array<string | number>;

/** Reads on the calling thread. */
export class SqliteEventReader implements EventReader {
  readonly #database: DatabaseSync;
  readonly #upcast: Upcast;
  readonly changes: ChangeListener;
  readonly #onClose: () => void;
  readonly #selectStream: StatementSync;
  readonly #selectLog: StatementSync;
  readonly #selectLastPosition: StatementSync;
  readonly #selectId: StatementSync;
  readonly #selectNames: StatementSync;
  readonly #selectHead: StatementSync;
  /** Statements by the list of their types, because a follower sends the same list each time. */
  readonly #selectFiltered = new WeakMap<ReadonlyArray<string>, StatementSync>();
  #closed = false;

  /**
   * @param changes announces new events; closed with the reader
   * @param onClose called once, at the end of `close`
   */
  constructor(file: string, upcast: Upcast, changes: ChangeListener, onClose: () => void) {
    this.#database = openEventFileForReading(file);
    this.#upcast = upcast;
    this.changes = changes;
    this.#onClose = onClose;
    this.#selectStream = this.#prepare(streamRangeSql(columns));
    this.#selectLog = this.#prepare(`SELECT ${columns} FROM events WHERE position > ? ORDER BY position LIMIT ?`);
    this.#selectLastPosition = this.#prepare('SELECT max(position) FROM events');
    this.#selectHead = this.#prepare('SELECT revision FROM heads WHERE stream = $stream');
    this.#selectId = this.#prepare('SELECT id FROM events WHERE position = ?');
    this.#selectNames = this.#prepare(
      'SELECT stream FROM heads WHERE stream >= $prefix AND stream < $end AND position IN (SELECT position FROM events)',
    );
  }

  async read(stream: string, fromRevision: number, limit = Number.MAX_SAFE_INTEGER): Promise<StreamPart> {
    return runInTurn(
      workForAll(),
      'log',
      () => this.#part(stream, fromRevision, limit),
      ({ characters }) => characters,
    );
  }

  #part(stream: string, fromRevision: number, limit: number): StreamPart {
    const events: RecordedEvent[] = [];
    let characters = 0;
    for (const row of this.#streamRows(stream, fromRevision, limit)) {
      events.push(recordedEvent(stored(row), this.#upcast));
      characters += charactersOf(row);
      if (characters > maxPartCharacters) break;
    }
    this.#ensureWhole(stream, fromRevision, limit, events);
    return { events, characters, isEnd: events.length < limit && characters <= maxPartCharacters };
  }

  async readPage(request: LogPageRequest): Promise<LogPage> {
    const filter = filterOf(request);
    return filter === null ? this.#page(request) : this.#filteredPage(request, filter);
  }

  async lastPosition(): Promise<number> {
    return this.#readLastPosition();
  }

  async eventAt(position: number): Promise<string | null> {
    for (const [id] of this.#rows(this.#selectId, position)) return String(id);
    return null;
  }

  readRaw(stream: string, fromRevision: number, limit = Number.MAX_SAFE_INTEGER): ReadonlyArray<StoredEvent> {
    const events = Array.from(this.#streamRows(stream, fromRevision, limit), stored);
    this.#ensureWhole(stream, fromRevision, limit, events);
    return events;
  }

  readRawLog(after: number, limit: number): ReadonlyArray<RawEvent> {
    const events: RawEvent[] = [];
    let characters = 0;
    for (const row of this.#rows(this.#selectLog, after, limit)) {
      events.push(stored(row));
      characters += charactersOf(row);
      if (characters > maxRawCharacters) break;
    }
    return events;
  }

  async streamNames(prefix: string): Promise<ReadonlyArray<string>> {
    const end = `${prefix}\u{10ffff}`;
    return Array.from(this.#rows(this.#selectNames, { prefix, end }), ([name]) => String(name));
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.changes.close();
    this.#database.close();
    this.#onClose();
  }

  #page({ after, maxEvents }: LogPageRequest): LogPage {
    const { events, characters, isCut } = this.#pageEvents(this.#rows(this.#selectLog, after, maxEvents), maxEvents);
    return { after, position: events.at(-1)?.position ?? after, events, characters, isEnd: !isCut };
  }

  #filteredPage({ after, maxEvents }: LogPageRequest, filter: TypeCondition): LogPage {
    // The position is read first. Events that are stored from now on belong to the next page, filtered or not.
    const lastPosition = Math.max(this.#readLastPosition(), after);
    const end = Math.min(lastPosition, after + maxFilteredPositions);
    const rows = this.#rows(this.#filteredSelect(filter), after, end, ...filter.types, maxEvents);
    const { events, characters, isCut } = this.#pageEvents(rows, maxEvents);
    const position = isCut ? (events.at(-1)?.position ?? end) : end;
    return { after, position, events, characters, isEnd: position === lastPosition };
  }

  #pageEvents(rows: Iterable<Row>, maxEvents: number) {
    const events: LazyEvent[] = [];
    let characters = 0;
    for (const row of rows) {
      events.push(new LazyEvent(stored(row), this.#upcast));
      characters += charactersOf(row);
      if (characters > maxPageCharacters) break;
    }
    return { events, characters, isCut: events.length === maxEvents || characters > maxPageCharacters };
  }

  #readLastPosition(): number {
    for (const [position] of this.#rows(this.#selectLastPosition)) return position ?? 0;
    return 0;
  }

  /** @throws UnreadableStreamError */
  #ensureWhole(
    stream: string,
    fromRevision: number,
    limit: number,
    events: ReadonlyArray<{ readonly revision: number }>,
  ): void {
    if (limit <= 0 || isShortenedOnPurpose(stream)) return;
    const revisions = events.map(({ revision }) => revision);
    const gap = events.length === 0 ? this.#hiddenFrom(stream, fromRevision) : gapIn(stream, fromRevision, revisions);
    if (gap !== null) throw new UnreadableStreamError(gap, 'something else has removed events from the file');
  }

  /** The error for a stream whose last event has at least this revision, but is not there. */
  #hiddenFrom(stream: string, expectedRevision: number): StreamGap | null {
    const [head] = [...this.#rows(this.#selectHead, { stream })];
    const lastRevision = head === undefined ? noStream : Number(head[0]);
    if (lastRevision < expectedRevision) return null;
    // The event may have been stored since the first read.
    const [first] = this.#streamRows(stream, expectedRevision, 1);
    return first === undefined ? { stream, expectedRevision, foundRevision: null } : null;
  }

  #streamRows(stream: string, fromRevision: number, limit: number): Iterable<Row> {
    const to = Math.min(fromRevision + limit - 1, Number.MAX_SAFE_INTEGER);
    return this.#rows(this.#selectStream, { stream, from: fromRevision, to });
  }

  *#rows(statement: StatementSync, ...parameters: Parameters): Generator<Row, void, void> {
    try {
      // The types of node:sqlite know only rows as objects; `setReturnArrays` makes them arrays.
      yield* statement.iterate(...(parameters as SQLInputValue[])) as Iterable<unknown> as Iterable<Row>;
    } catch (error) {
      throw this.#unavailable(error);
    }
  }

  #unavailable(error: unknown): unknown {
    if (this.#closed) return new UnavailableError('The event store is closed.');
    const isOfDatabase = error instanceof Error && 'code' in error && error.code === 'ERR_SQLITE_ERROR';
    return isOfDatabase ? new UnavailableError(`The event store cannot be read: ${error.message}`) : error;
  }

  #filteredSelect({ types, operator }: TypeCondition): StatementSync {
    const known = this.#selectFiltered.get(types);
    if (known !== undefined) return known;
    const places = types.map(() => '?').join(', ');
    const select = this.#prepare(
      `SELECT ${columns} FROM events WHERE position > ? AND position <= ? AND type ${operator} (${places}) ORDER BY position LIMIT ?`,
    );
    this.#selectFiltered.set(types, select);
    return select;
  }

  #prepare(sql: string): StatementSync {
    const statement = this.#database.prepare(sql);
    statement.setReturnArrays(true);
    return statement;
  }
}

interface TypeCondition {
  readonly types: ReadonlyArray<string>;
  readonly operator: 'IN' | 'NOT IN';
}

function filterOf({ types, exceptTypes }: LogPageRequest): TypeCondition | null {
  if (types !== undefined) return { types, operator: 'IN' };
  return exceptTypes === undefined ? null : { types: exceptTypes, operator: 'NOT IN' };
}

function stored(row: Row): RawEvent {
  const [position, stream, revision, id, type, data, metadata] = row;
  return { position, stream, revision, id, type, data, metadata };
}

function charactersOf(row: Row): number {
  return row[5].length + row[6].length;
}
