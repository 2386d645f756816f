import { ChangeListener } from '#event-store/change-notifications.ts';
import type { StoredEvent } from '#event-store/event-store.ts';
import { asStored } from '#event-store/recorded-event.ts';
import { type AppendBatch, checkRevisionFollows, splitIntoAppends } from '#event-store/transfer/append-batches.ts';
import type { LogTarget, RawEvent } from '#event-store/transfer/raw-log.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { openEventFile } from './event-file.ts';
import { type AppendMessage, conflictMark } from './messages.ts';
import { SqliteEventReader } from './reader.ts';
import { Writer } from './writer.ts';

/**
 * Creates the file if it does not exist. It writes on the calling thread, each part in one transaction. So the order is
 * kept after any failure, and each part needs one disk sync.
 * @param file this process must own it, and its folder must exist (`lockStoreFile`)
 * @throws StartupError
 */
export function openSqliteLogTarget(file: string): SqliteLogTarget {
  return new SqliteLogTarget(file);
}

export class SqliteLogTarget implements LogTarget {
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
    lastEventIds: [],
    eventCounts: runs.map(({ events }) => events.length),
    texts: runs.flatMap(({ events }) => events.flatMap(({ id, type, data, metadata }) => [id, type, data, metadata])),
  };
}
