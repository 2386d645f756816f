import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { LRUCache } from 'lru-cache';
import { noStream } from '#event-store/event-store.ts';
import { type AppendMessage, type CommitFailed, type Committed, conflictMark } from '#event-store/sqlite/messages.ts';

/** Streams whose revision is remembered, so that most appends need no read. */
const rememberedStreams = 50_000;

const textsPerEvent = 4;

/** Writes appends into the event file, many to a transaction. Lives in the writer thread. */
export class Writer {
  readonly #database: DatabaseSync;
  readonly #begin: StatementSync;
  readonly #commit: StatementSync;
  readonly #insert: StatementSync;
  readonly #selectLastPosition: StatementSync;
  readonly #selectRevision: StatementSync;
  readonly #selectEvent: StatementSync;
  readonly #revisions = new LRUCache<string, number>({ max: rememberedStreams });
  #lastPosition: number;

  /** @param database from `openEventFile`; the writer closes it */
  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#begin = database.prepare('BEGIN IMMEDIATE');
    this.#commit = database.prepare('COMMIT');
    this.#insert = database.prepare(
      'INSERT INTO events (position, stream, revision, id, type, data, metadata) VALUES (?, ?, ?, ?, ?, ?, ?)',
    );
    this.#selectLastPosition = database.prepare('SELECT max(position) FROM events');
    this.#selectRevision = database.prepare('SELECT max(revision) FROM events WHERE stream = ?');
    this.#selectEvent = database.prepare('SELECT id, position FROM events WHERE stream = ? AND revision = ?');
    for (const statement of [this.#selectLastPosition, this.#selectRevision, this.#selectEvent])
      statement.setReturnArrays(true);
    this.#lastPosition = this.#readLastPosition();
  }

  /** The position of the last event stored; 0 for an empty log. */
  get lastPosition(): number {
    return this.#lastPosition;
  }

  /**
   * Stores the appends of all messages in one transaction, durable when it returns. An append whose stream is not at
   * its expected revision conflicts alone; later ones see the earlier. A disk that fails fails all.
   */
  commit(messages: ReadonlyArray<AppendMessage>): Committed | CommitFailed {
    const started = performance.now();
    const lastPositionBefore = this.#lastPosition;
    try {
      this.#begin.run();
      this.#noticeOtherWriter();
      const firstPosition = this.#lastPosition;
      const outcomes: number[] = [];
      for (const message of messages) this.#write(message, outcomes);
      this.#commit.run();
      return {
        kind: 'committed',
        outcomes,
        lastPosition: this.#lastPosition,
        events: this.#lastPosition - firstPosition,
        milliseconds: performance.now() - started,
      };
    } catch (error) {
      this.#rollBack(lastPositionBefore);
      return { kind: 'failed', appends: countAppends(messages), detail: `The event store cannot write: ${error}` };
    }
  }

  /** Brings everything into the main file, so that the next start has nothing to recover, and closes. */
  close(): void {
    try {
      this.#database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    } finally {
      this.#database.close();
    }
  }

  #write(message: AppendMessage, outcomes: number[]): void {
    let next = 0;
    for (const [index, stream] of message.streams.entries()) {
      const expectedRevision = message.expectedRevisions[index] ?? noStream;
      const first = next;
      next += (message.eventCounts[index] ?? 0) * textsPerEvent;
      this.#append(stream, expectedRevision, message.texts, first, next, outcomes);
    }
  }

  #append(
    stream: string,
    expectedRevision: number,
    texts: ReadonlyArray<string>,
    first: number,
    end: number,
    outcomes: number[],
  ): void {
    const actualRevision = this.#revisionOf(stream);
    if (actualRevision !== expectedRevision) {
      const position = this.#positionOfRepeat(stream, expectedRevision, texts, first, end);
      if (position === null) outcomes.push(actualRevision, conflictMark);
      else outcomes.push(expectedRevision + (end - first) / textsPerEvent, position);
      return;
    }
    let revision = expectedRevision;
    for (let at = first; at < end; at += textsPerEvent) {
      revision += 1;
      this.#lastPosition += 1;
      this.#insert.run(
        this.#lastPosition,
        stream,
        revision,
        texts[at] ?? null,
        texts[at + 1] ?? null,
        texts[at + 2] ?? null,
        texts[at + 3] ?? null,
      );
    }
    this.#revisions.set(stream, revision);
    outcomes.push(revision, this.#lastPosition);
  }

  /** The position of the last of these events when they all stand where this append would have put them, else null. */
  #positionOfRepeat(
    stream: string,
    expectedRevision: number,
    texts: ReadonlyArray<string>,
    first: number,
    end: number,
  ): number | null {
    let position: number | null = null;
    for (let at = first, revision = expectedRevision + 1; at < end; at += textsPerEvent, revision += 1) {
      const stored = rowOf(this.#selectEvent.get(stream, revision));
      if (stored?.[0] !== texts[at]) return null;
      position = Number(stored?.[1]);
    }
    return position;
  }

  #revisionOf(stream: string): number {
    const remembered = this.#revisions.get(stream);
    if (remembered !== undefined) return remembered;
    const stored = rowOf(this.#selectRevision.get(stream))?.[0];
    const revision = typeof stored === 'number' ? stored : noStream;
    this.#revisions.set(stream, revision);
    return revision;
  }

  /** The folder's lock keeps other processes out, but a file named by URL may lie elsewhere: then nothing remembered holds. */
  #noticeOtherWriter(): void {
    const stored = this.#readLastPosition();
    if (stored === this.#lastPosition) return;
    this.#lastPosition = stored;
    this.#revisions.clear();
  }

  #readLastPosition(): number {
    return Number(rowOf(this.#selectLastPosition.get())?.[0] ?? 0);
  }

  #rollBack(lastPosition: number): void {
    this.#lastPosition = lastPosition;
    this.#revisions.clear();
    if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
  }
}

/** The types of node:sqlite know only rows as objects; `setReturnArrays` makes them arrays. */
function rowOf(row: unknown): ReadonlyArray<unknown> | undefined {
  return Array.isArray(row) ? row : undefined;
}

function countAppends(messages: ReadonlyArray<AppendMessage>): number {
  return messages.reduce((count, message) => count + message.streams.length, 0);
}
