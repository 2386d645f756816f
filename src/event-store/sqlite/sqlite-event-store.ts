import { once } from 'node:events';
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads';
import * as E from 'fp-ts/lib/Either.js';
import { sizedAppend } from '#event-store/append-limits.ts';
import { ChangeListener } from '#event-store/change-notifications.ts';
import {
  type AppendFailure,
  type AppendResult,
  type CommitStatistics,
  defaultMaxAppendBytes,
  type EventStore,
  type EventToAppend,
} from '#event-store/event-store.ts';
import type { LogPageRequest, LogPages } from '#event-store/log-pages.ts';
import { asStored, type Upcast } from '#event-store/recorded-event.ts';
import type { StreamRemoval } from '#event-store/stream-removal.ts';
import { Admission } from '#exchange/admission.ts';
import { withTimeout } from '#shared/async/timed-waits.ts';
import { StartupError } from '#shared/errors/startup-error.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { type ThreadHeap, threadError } from '#shared/memory/thread-heap.ts';
import { AppendQueue } from './append-queue.ts';
import { eventsPerRemoval, openEventFile } from './event-file.ts';
import type { FromWriter, RemovalAnswer, RemoveMessage } from './messages.ts';
import { type EventReader, SqliteEventReader } from './reader.ts';
import type { WriterThreadData } from './writer-thread.ts';

export interface SqliteEventStoreOptions {
  /** The path of the file, which is created if it does not exist. Its folder must exist. */
  readonly file: string;
  /** Without it, data is returned as stored. */
  readonly upcast?: Upcast;
  /** Default 900 KiB. */
  readonly maxAppendBytes?: number;
  /** Limits the accepted and unanswered appends. Further ones are `unavailable`. Default: one of its own. */
  readonly admission?: Pick<Admission, 'rooms'>;
  readonly onCommit?: (statistics: CommitStatistics) => void;
  /** Called after a failure of the writer, which only a bug causes. Reads still work; every append is `unavailable`. */
  readonly onWriterFailure?: (error: Error) => void;
  /** Default 512. */
  readonly maxWriterHeapMb?: number;
}

export interface SqliteEventStore
  extends EventStore,
    LogPages,
    Pick<StreamRemoval, 'streamNames' | 'removeStream'>,
    Pick<EventReader, 'readRaw' | 'readRawLog'> {
  /** A port for `openSqliteEventReader` in another thread: transfer it there. */
  changePort(): MessagePort;
}

/** The 64 MiB of appends that may wait take about 130 MB. The young generation holds the messages of a commit. */
const writerHeap: ThreadHeap = {
  thread: 'writes the event store',
  maxOldGenerationSizeMb: 512,
  maxYoungGenerationSizeMb: 24,
};
const startLimitMs = 30_000;
const answerLimitMs = 30_000;

/**
 * Shorter than the ten seconds in which the service must stop. The next start completes what an interrupted thread has
 * left.
 */
const closeLimitMs = 6_000;

/**
 * Opens the embedded event store: one SQLite file, written by one thread, which commits waiting appends in one
 * transaction. The process should own the file (`lockStoreFile`).
 * @throws StartupError if the file is not an event store, is newer than this code, or is damaged
 */
export async function openSqliteEventStore(options: SqliteEventStoreOptions): Promise<SqliteEventStore> {
  // This connection stays open until the others are open, so that none of them is the last one to close, which would
  // copy the log into the file.
  const checked = openEventFile(options.file);
  try {
    const wakeUps = new ChangeListener();
    const reader = new SqliteEventReader(options.file, options.upcast ?? asStored, wakeUps, () => {});
    const store = new ThreadedEventStore(options, reader, wakeUps);
    await store.started();
    return store;
  } finally {
    checked.close();
  }
}

class ThreadedEventStore implements SqliteEventStore {
  readonly #reader: SqliteEventReader;
  readonly #wakeUps: ChangeListener;
  readonly #port: MessagePort;
  readonly #thread: Worker;
  readonly #queue: AppendQueue;
  readonly #maxAppendBytes: number;
  readonly #onCommit: (statistics: CommitStatistics) => void;
  readonly #exited: Promise<void>;
  /** Called with the answers, in order. */
  readonly #removals: Array<(answer: RemovalAnswer) => void> = [];
  #threadError: Error | null = null;
  #closing: Promise<void> | null = null;
  #isThreadGone = false;

  constructor(options: SqliteEventStoreOptions, reader: SqliteEventReader, wakeUps: ChangeListener) {
    const { port1, port2 } = new MessageChannel();
    this.#reader = reader;
    this.#wakeUps = wakeUps;
    this.#port = port1;
    this.#maxAppendBytes = options.maxAppendBytes ?? defaultMaxAppendBytes;
    this.#onCommit = options.onCommit ?? (() => {});
    const { admission = new Admission() } = options;
    this.#queue = new AppendQueue(port1, { room: admission.rooms.append, answerWithinMs: answerLimitMs });
    const workerData: WriterThreadData = { file: options.file, port: port2 };
    const heap = {
      ...writerHeap,
      maxOldGenerationSizeMb: options.maxWriterHeapMb ?? writerHeap.maxOldGenerationSizeMb,
    };
    this.#thread = new Worker(new URL('./writer-thread.ts', import.meta.url), {
      workerData,
      transferList: [port2],
      name: 'event-writer',
      resourceLimits: heap,
    });
    this.#exited = new Promise((resolve) => this.#thread.once('exit', () => resolve()));
    this.#thread.once('exit', () => this.#threadEnded());
    this.#thread.on('error', (error) => {
      this.#threadError = threadError(error, heap);
      options.onWriterFailure?.(this.#threadError);
    });
    port1.on('message', (message: FromWriter) => this.#receive(message));
  }

  /** @throws StartupError if the writer thread does not start */
  async started(): Promise<void> {
    try {
      await once(this.#port, 'message', {
        signal: AbortSignal.any([this.#threadGone(), AbortSignal.timeout(startLimitMs)]),
      });
    } catch (error) {
      await this.#end();
      const reason = this.#threadError?.message ?? 'it does not answer';
      throw new StartupError(`The writer of the event store did not start: ${reason}`, { cause: error });
    }
  }

  async append(
    stream: string,
    expectedRevision: number,
    events: ReadonlyArray<EventToAppend>,
    lastEventId?: string,
  ): Promise<E.Either<AppendFailure, AppendResult>> {
    const size = sizedAppend(expectedRevision, events, this.#maxAppendBytes);
    return E.isLeft(size) ? size : this.#queue.add({ stream, expectedRevision, events, lastEventId }, size.right);
  }

  read(stream: string, fromRevision: number, limit?: number) {
    return this.#reader.read(stream, fromRevision, limit);
  }

  readPage(request: LogPageRequest) {
    return this.#reader.readPage(request);
  }

  get changes() {
    return this.#reader.changes;
  }

  lastPosition() {
    return this.#reader.lastPosition();
  }

  eventAt(position: number) {
    return this.#reader.eventAt(position);
  }

  readRaw(stream: string, fromRevision: number, limit?: number) {
    return this.#reader.readRaw(stream, fromRevision, limit);
  }

  readRawLog(after: number, limit: number) {
    return this.#reader.readRawLog(after, limit);
  }

  streamNames(prefix: string) {
    return this.#reader.streamNames(prefix);
  }

  async removeStream(stream: string, lastRevision: number): Promise<boolean> {
    for (let from = 0; from <= lastRevision; from += eventsPerRemoval) {
      const to = Math.min(from + eventsPerRemoval - 1, lastRevision);
      const { outcome, detail } = await this.#remove({ kind: 'remove', stream, from, to, lastRevision });
      if (outcome === 'changed') return false;
      if (outcome === 'failed') throw new UnavailableError(detail);
      if (outcome === 'newest') throw new Error(`${stream} has the newest event of the log, which is never removed.`);
      await this.#wakeUps.notifyRemoval(stream);
    }
    return true;
  }

  changePort(): MessagePort {
    const { port1, port2 } = new MessageChannel();
    this.#port.postMessage({ kind: 'wake', port: port1 }, [port1]);
    return port2;
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#queue.stop('The event store is closing.');
    this.#port.postMessage({ kind: 'close' });
    const limit = setTimeout(() => this.#thread.terminate(), closeLimitMs);
    await this.#exited;
    clearTimeout(limit);
    await this.#end();
  }

  async #end(): Promise<void> {
    await this.#thread.terminate();
    this.#port.close();
    await this.#reader.close();
  }

  #remove(message: RemoveMessage): Promise<RemovalAnswer> {
    if (this.#isThreadGone || this.#closing !== null)
      return Promise.resolve(removalFailed('The event store is closing.'));
    this.#port.postMessage(message);
    const { promise, resolve } = Promise.withResolvers<RemovalAnswer>();
    this.#removals.push(resolve);
    return withTimeout(answerLimitMs, promise, removalFailed('The event store does not answer.'));
  }

  #receive(message: FromWriter): void {
    if (message.kind === 'removal') {
      this.#removals.shift()?.(message);
      return;
    }
    if (message.kind !== 'ready') this.#queue.settle(message);
    if (message.kind === 'failed') return;
    this.#wakeUps.notify(message.lastPosition);
    if (message.kind === 'committed')
      this.#onCommit({
        appends: message.outcomes.length / 2,
        events: message.events,
        milliseconds: message.milliseconds,
      });
  }

  #threadEnded(): void {
    this.#isThreadGone = true;
    // Answers of the thread may still be read after its end.
    for (let left = receiveMessageOnPort(this.#port); left !== undefined; left = receiveMessageOnPort(this.#port))
      this.#receive(left.message as FromWriter);
    this.#queue.fail('The event store has stopped.');
    for (const settle of this.#removals.splice(0)) settle(removalFailed('The event store has stopped.'));
    // Otherwise followers would wait without an end.
    if (this.#closing === null) this.#wakeUps.close();
  }

  #threadGone(): AbortSignal {
    const gone = new AbortController();
    this.#thread.once('exit', () => gone.abort());
    return gone.signal;
  }
}

function removalFailed(detail: string): RemovalAnswer {
  return { kind: 'removal', outcome: 'failed', detail };
}
