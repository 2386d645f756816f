import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { MessagePort } from 'node:worker_threads';
import { type ChangeListener, listenForChanges } from '#event-store/change-notifications.ts';
import {
  type EventBatch,
  type EventStore,
  maxPartCharacters,
  type RecordedEvent,
  type StreamPart,
  type SubscribeOptions,
} from '#event-store/event-store.ts';
import type { StoredEvent } from '#event-store/hash-chain.ts';
import { LazyEvent, recordedEvent } from '#event-store/lazy-event.ts';
import type { StreamRemoval } from '#event-store/stream-removal.ts';
import type { RawEvent, RawLog } from '#event-store/transfer/raw-log.ts';
import { asStored, type Upcast } from '#event-store/upcasting.ts';
import { TurnBudget } from '#shared/async/turn-budget.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { openEventFileForReading, streamRangeSql } from './event-file.ts';

/** The default number of events in a batch. */
const defaultBatchSize = 1_000;

/**
 * The most characters of JSON in a batch; a single event may have more. Parsed, they may take 40 times as much memory.
 */
const maxBatchCharacters = 4 * 1024 * 1024;

/** The most positions that one batch scans for some event types, so that no read takes long. */
const maxFilteredPositions = 20_000;

/** The reading half of the port, and reads of events as stored. */
export interface EventReader
  extends Pick<EventStore, 'read' | 'subscribe' | 'lastPosition'>,
    Pick<StreamRemoval, 'streamNames'>,
    RawLog {
  /**
   * A stream's events as stored, not upcast: what `verifyChain` takes.
   * @throws UnavailableError
   */
  readRaw(stream: string, fromRevision: number, limit?: number): ReadonlyArray<StoredEvent>;
  /**
   * The log as stored, not upcast, after a position. Stops early, after at least one event, if the texts are large.
   * @throws UnavailableError
   */
  readRawLog(after: number, limit: number): ReadonlyArray<RawEvent>;
  /** Ends the subscriptions and closes the reader. */
  close(): Promise<void>;
}

export interface EventReaderOptions {
  /** Path of an event file that a store has open. */
  readonly file: string;
  /** Brings data to its newest shape; without it data comes as stored. */
  readonly upcast?: Upcast;
  /** From `wakePort` of the store: signals new events. The reader closes it. */
  readonly wake: MessagePort;
}

/** Opens a separate reader in another thread than the store's. */
export function openSqliteEventReader(options: EventReaderOptions): EventReader {
  return new SqliteEventReader(options.file, options.upcast ?? asStored, listenForChanges(options.wake), () =>
    options.wake.close(),
  );
}

const columns = 'position, stream, revision, id, type, data, metadata';

/** A row, in the order of `columns`. */
type Row = readonly [number, string, number, string, string, string, string];

/** The parameters of a statement: by name, or in order. */
type Parameters = [Record<string, string | number>] | Array<string | number>;

/** Reads the event file on the calling thread. */
export class SqliteEventReader implements EventReader {
  readonly #database: DatabaseSync;
  readonly #upcast: Upcast;
  readonly #wakeUps: ChangeListener;
  readonly #readTurns = new TurnBudget(maxPartCharacters);
  readonly #onClose: () => void;
  readonly #selectStream: StatementSync;
  readonly #selectLog: StatementSync;
  readonly #selectLastPosition: StatementSync;
  readonly #selectNames: StatementSync;
  #closed = false;

  /**
   * @param wakeUps signals new events; closed with the reader
   * @param onClose called once, at the end of `close`
   */
  constructor(file: string, upcast: Upcast, wakeUps: ChangeListener, onClose: () => void) {
    this.#database = openEventFileForReading(file);
    this.#upcast = upcast;
    this.#wakeUps = wakeUps;
    this.#onClose = onClose;
    this.#selectStream = this.#prepare(streamRangeSql(columns));
    this.#selectLog = this.#prepare(
      `SELECT ${columns} FROM events WHERE position > ? AND position <= ? ORDER BY position LIMIT ?`,
    );
    this.#selectLastPosition = this.#prepare('SELECT max(position) FROM events');
    this.#selectNames = this.#prepare(
      'SELECT stream FROM heads WHERE stream >= $prefix AND stream < $end AND position IN (SELECT position FROM events)',
    );
  }

  async read(stream: string, fromRevision: number, limit = Number.MAX_SAFE_INTEGER): Promise<StreamPart> {
    return this.#readTurns.run(
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
    return { events, characters, isEnd: events.length < limit && characters <= maxPartCharacters };
  }

  async *subscribe(options: SubscribeOptions): AsyncGenerator<EventBatch, void, void> {
    const { signal } = options;
    const filter = filterOf(options);
    const batchSize = options.batchSize ?? defaultBatchSize;
    const select = filter === null ? this.#selectLog : this.#prepareFiltered(filter);
    const types = filter?.types ?? [];
    let position = options.after;
    let first = true;
    while (!signal.aborted && !this.#closed) {
      const batch = this.#nextBatch(select, types, position, batchSize);
      if (first || batch.position > position) yield batch;
      first = false;
      position = batch.position;
      if (batch.caughtUp) await this.#waitPast(position, signal);
      else await nextTurn();
    }
  }

  async lastPosition(): Promise<number> {
    return this.#readLastPosition();
  }

  readRaw(stream: string, fromRevision: number, limit = Number.MAX_SAFE_INTEGER): ReadonlyArray<StoredEvent> {
    return Array.from(this.#streamRows(stream, fromRevision, limit), stored);
  }

  readRawLog(after: number, limit: number): ReadonlyArray<RawEvent> {
    const events: RawEvent[] = [];
    let characters = 0;
    for (const row of this.#rows(this.#selectLog, after, Number.MAX_SAFE_INTEGER, limit)) {
      events.push(stored(row));
      characters += charactersOf(row);
      if (characters > maxBatchCharacters) break;
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
    this.#wakeUps.close();
    this.#database.close();
    this.#onClose();
  }

  #nextBatch(select: StatementSync, types: ReadonlyArray<string>, after: number, batchSize: number): EventBatch {
    // The position is read first. Events that are stored from now on belong to the next batch, filtered or not.
    const lastPosition = Math.max(this.#readLastPosition(), after);
    const end = types.length === 0 ? lastPosition : Math.min(lastPosition, after + maxFilteredPositions);
    const events: RecordedEvent[] = [];
    let characters = 0;
    for (const row of this.#rows(select, after, end, ...types, batchSize)) {
      events.push(new LazyEvent(stored(row), this.#upcast));
      characters += charactersOf(row);
      if (characters > maxBatchCharacters) break;
    }
    const cutShort = events.length === batchSize || characters > maxBatchCharacters;
    const position = cutShort ? (events.at(-1)?.position ?? end) : end;
    return { events, position, caughtUp: position === lastPosition, characters };
  }

  async #waitPast(position: number, signal: AbortSignal): Promise<void> {
    await this.#wakeUps.waitPast(position, signal);
    if (this.#wakeUps.closed && !this.#closed && !signal.aborted)
      throw new UnavailableError('The event store has stopped: new events are not announced any more.');
  }

  #readLastPosition(): number {
    for (const [position] of this.#rows(this.#selectLastPosition)) return position ?? 0;
    return 0;
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

  #prepareFiltered({ types, operator }: TypeFilter): StatementSync {
    const places = types.map(() => '?').join(', ');
    return this.#prepare(
      `SELECT ${columns} FROM events WHERE position > ? AND position <= ? AND type ${operator} (${places}) ORDER BY position LIMIT ?`,
    );
  }

  #prepare(sql: string): StatementSync {
    const statement = this.#database.prepare(sql);
    statement.setReturnArrays(true);
    return statement;
  }
}

interface TypeFilter {
  readonly types: ReadonlyArray<string>;
  readonly operator: 'IN' | 'NOT IN';
}

function filterOf({ types, exceptTypes }: SubscribeOptions): TypeFilter | null {
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
