import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { noStream } from '#event-store/event-store.ts';
import { countedCache } from '#shared/memory/counted-cache.ts';
import { isMarked, streamRangeSql } from './event-file.ts';
import {
  type AppendMessage,
  type CommitFailed,
  type CommitSucceeded,
  conflictMark,
  type RemovalAnswer,
  type RemoveMessage,
} from './messages.ts';

interface Head {
  readonly revision: number;
  readonly position: number;
  /** The id of the event; null if it was not read. */
  readonly id: string | null;
}

const noHead: Head = { revision: noStream, position: 0, id: null };

interface ExpectedStream {
  readonly stream: string;
  readonly expectedRevision: number;
  /** The id of the stream's last event; empty if any will do. */
  readonly lastEventId: string;
}

/** Number of remembered heads, so that most appends need no read. */
const rememberedHeads = 50_000;

const textsPerEvent = 4;

/** Stores many appends in one transaction, in the writer thread. */
export class Writer {
  readonly #database: DatabaseSync;
  readonly #begin: StatementSync;
  readonly #commit: StatementSync;
  readonly #insert: StatementSync;
  readonly #selectLastPosition: StatementSync;
  readonly #putHead: StatementSync;
  readonly #putMark: StatementSync;
  readonly #selectHead: StatementSync;
  readonly #selectIds: StatementSync;
  readonly #deleteEvents: StatementSync;
  readonly #deleteMarks: StatementSync;
  readonly #heads = countedCache<Head>(rememberedHeads);
  #lastPosition: number;

  /** @param database from `openEventFile`; the writer closes it */
  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#begin = database.prepare('BEGIN IMMEDIATE');
    this.#commit = database.prepare('COMMIT');
    this.#insert = database.prepare(
      'INSERT INTO events (position, previous, stream, revision, id, type, data, metadata) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
    );
    this.#putHead = database.prepare('INSERT OR REPLACE INTO heads (stream, revision, position) VALUES (?, ?, ?)');
    this.#putMark = database.prepare('INSERT INTO marks (stream, revision, position) VALUES (?, ?, ?)');
    this.#selectLastPosition = database.prepare('SELECT max(position) FROM events');
    this.#selectHead = database.prepare('SELECT revision, position FROM heads WHERE stream = ?');
    this.#selectIds = database.prepare(streamRangeSql('id, position'));
    this.#deleteEvents = database.prepare(`DELETE FROM events WHERE position IN (${streamRangeSql('position')})`);
    this.#deleteMarks = database.prepare('DELETE FROM marks WHERE stream = ? AND revision BETWEEN ? AND ?');
    for (const statement of [this.#selectLastPosition, this.#selectHead, this.#selectIds])
      statement.setReturnArrays(true);
    this.#lastPosition = this.#readLastPosition();
  }

  /** The position of the last event stored; 0 for an empty log. */
  get lastPosition(): number {
    return this.#lastPosition;
  }

  /**
   * Stores appends in one transaction, which is durable when it returns. An append whose stream is not at its expected
   * revision is a conflict, and the others are stored. Later appends see earlier ones. A failure of the disk fails all.
   */
  commit(messages: ReadonlyArray<AppendMessage>): CommitSucceeded | CommitFailed {
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

  /**
   * The removal is durable when this returns. The stream's head stays, so that its revisions continue. The newest event
   * of the log stays too, because positions continue after it.
   */
  remove({ stream, from, to, lastRevision }: RemoveMessage): RemovalAnswer {
    const lastPositionBefore = this.#lastPosition;
    try {
      this.#begin.run();
      this.#noticeOtherWriter();
      const head = this.#headOf(stream);
      const refusal = refusalOf(head, lastRevision, this.#lastPosition);
      if (refusal === null) {
        this.#deleteEvents.run({ stream, from, to });
        this.#deleteMarks.run(stream, from, to);
      }
      this.#commit.run();
      return { kind: 'removal', outcome: refusal ?? 'removed', detail: '' };
    } catch (error) {
      this.#rollBack(lastPositionBefore);
      return { kind: 'removal', outcome: 'failed', detail: `The event store cannot write: ${error}` };
    }
  }

  /** Copies everything into the main file, so that the next start has nothing to recover. */
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
      const lastEventId = message.lastEventIds[index] ?? '';
      this.#append({ stream, expectedRevision, lastEventId }, message.texts, first, next, outcomes);
    }
  }

  #append(
    { stream, expectedRevision, lastEventId }: ExpectedStream,
    texts: ReadonlyArray<string>,
    first: number,
    end: number,
    outcomes: number[],
  ): void {
    const head = this.#headOf(stream);
    if (head.revision !== expectedRevision) {
      const position = this.#positionOfRepeat(stream, expectedRevision, texts, first, end);
      if (position === null) outcomes.push(head.revision, conflictMark);
      else outcomes.push(expectedRevision + (end - first) / textsPerEvent, position);
      return;
    }
    if (lastEventId !== '' && this.#lastIdOf(stream, head) !== lastEventId) {
      outcomes.push(head.revision, conflictMark);
      return;
    }
    const { revision, position } = this.#insertEvents(stream, head, texts, first, end);
    this.#putHead.run(stream, revision, position);
    this.#heads.set(stream, { revision, position, id: texts[end - textsPerEvent] ?? null });
    outcomes.push(revision, position);
  }

  #lastIdOf(stream: string, { id, revision }: Head): string | null {
    if (id !== null) return id;
    const [last] = this.#selectIds.all({ stream, from: revision, to: revision }).map(rowOf);
    return last === undefined ? null : String(last[0]);
  }

  #insertEvents(
    stream: string,
    head: Head,
    texts: ReadonlyArray<string>,
    first: number,
    end: number,
  ): Pick<Head, 'revision' | 'position'> {
    let { revision, position } = head;
    for (let at = first; at < end; at += textsPerEvent) {
      const previous = position;
      revision += 1;
      position = this.#lastPosition += 1;
      this.#insert.run(
        position,
        previous,
        stream,
        revision,
        texts[at] ?? null,
        texts[at + 1] ?? null,
        texts[at + 2] ?? null,
        texts[at + 3] ?? null,
      );
      if (isMarked(revision)) this.#putMark.run(stream, revision, position);
    }
    return { revision, position };
  }

  /** The position of the last event if all are already stored where this append would store them; otherwise null. */
  #positionOfRepeat(
    stream: string,
    expectedRevision: number,
    texts: ReadonlyArray<string>,
    first: number,
    end: number,
  ): number | null {
    const to = expectedRevision + (end - first) / textsPerEvent;
    const stored = this.#selectIds.all({ stream, from: expectedRevision + 1, to }).map(rowOf);
    let position: number | null = null;
    for (let at = first, index = 0; at < end; at += textsPerEvent, index += 1) {
      if (stored[index]?.[0] !== texts[at]) return null;
      position = Number(stored[index]?.[1]);
    }
    return position;
  }

  #headOf(stream: string): Head {
    const remembered = this.#heads.get(stream);
    if (remembered !== undefined) return remembered;
    const stored = rowOf(this.#selectHead.get(stream));
    const head = stored === undefined ? noHead : { revision: Number(stored[0]), position: Number(stored[1]), id: null };
    this.#heads.set(stream, head);
    return head;
  }

  /**
   * Forgets the remembered heads if the file has another writer. The lock of the data folder excludes other processes,
   * but a file that a URL names may be elsewhere.
   */
  #noticeOtherWriter(): void {
    const stored = this.#readLastPosition();
    if (stored === this.#lastPosition) return;
    this.#lastPosition = stored;
    this.#heads.clear();
  }

  #readLastPosition(): number {
    return Number(rowOf(this.#selectLastPosition.get())?.[0] ?? 0);
  }

  #rollBack(lastPosition: number): void {
    this.#lastPosition = lastPosition;
    this.#heads.clear();
    if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
  }
}

function refusalOf(head: Head, lastRevision: number, lastPosition: number): 'changed' | 'newest' | null {
  if (head.revision !== lastRevision) return 'changed';
  return head.position === lastPosition ? 'newest' : null;
}

/** The types of node:sqlite know only rows as objects; `setReturnArrays` makes them arrays. */
function rowOf(row: unknown): ReadonlyArray<unknown> | undefined {
  return Array.isArray(row) ? row : undefined;
}

function countAppends(messages: ReadonlyArray<AppendMessage>): number {
  return messages.reduce((count, message) => count + message.streams.length, 0);
}
