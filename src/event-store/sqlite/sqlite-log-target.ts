import { ChangeListener } from '#event-store/change-notifications.ts';
import type { StoredEvent } from '#event-store/hash-chain.ts';
import { type AppendBatch, checkRevisionFollows, splitIntoAppends } from '#event-store/transfer/append-batches.ts';
import type { LogTarget, RawEvent } from '#event-store/transfer/raw-log.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { openEventFile } from './event-file.ts';
import { type AppendMessage, conflictMark } from './messages.ts';
import { asStored, SqliteEventReader } from './reader.ts';
import { Writer } from './writer.ts';

/** A SQLite file that a log is put into. */
export interface SqliteLogTarget extends LogTarget {
  close(): Promise<void>;
}

/**
 * Opens an event file to put a log into, and makes it when it is not there. It writes on the calling thread, each part
 * in one transaction: so the order is kept whatever fails, and nothing waits for a disk but once a part.
 * @param file this process owns it, and its folder exists (`lockStoreFile`)
 * @throws StartupError
 */
export function openSqliteLogTarget(file: string): SqliteLogTarget {
  return new FileLogTarget(file);
}

class FileLogTarget implements SqliteLogTarget {
  readonly #writer: Writer;
  readonly #reader: SqliteEventReader;

  constructor(file: string) {
    this.#writer = new Writer(openEventFile(file));
    this.#reader = new SqliteEventReader(file, asStored, new ChangeListener(), () => {});
  }

  readRawLog(after: number, limit: number): ReadonlyArray<RawEvent> {
    return this.#reader.readRawLog(after, limit);
  }

  lastPosition(): Promise<number> {
    return this.#reader.lastPosition();
  }

  async store(events: ReadonlyArray<StoredEvent>): Promise<number> {
    const runs = [...splitIntoAppends(events)];
    const answer = this.#writer.commit([messageOf(runs)]);
    if (answer.kind === 'failed') throw new UnavailableError(answer.detail);
    for (const [index, run] of runs.entries())
      if (answer.outcomes[2 * index + 1] === conflictMark)
        throw checkRevisionFollows(run, answer.outcomes[2 * index] ?? -1);
    return answer.lastPosition;
  }

  async close(): Promise<void> {
    await this.#reader.close();
    this.#writer.close();
  }
}

function messageOf(runs: ReadonlyArray<AppendBatch>): AppendMessage {
  return {
    kind: 'append',
    streams: runs.map(({ stream }) => stream),
    expectedRevisions: runs.map(({ expectedRevision }) => expectedRevision),
    eventCounts: runs.map(({ events }) => events.length),
    texts: runs.flatMap(({ events }) => events.flatMap(({ id, type, data, metadata }) => [id, type, data, metadata])),
  };
}
