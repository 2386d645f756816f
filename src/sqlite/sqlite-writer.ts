import { Worker } from 'node:worker_threads';
import { Admission } from '#exchange/admission.ts';
import { currentOwner, type FairPlaces, FairQueue } from '#shared/async/fair-queue.ts';
import { withTimeoutError } from '#shared/async/timed-waits.ts';
import { RefusedWriteError, UnavailableError } from '#shared/errors/unavailable-error.ts';
import { type ThreadHeap, threadError } from '#shared/memory/thread-heap.ts';

export interface SqliteWriterOptions {
  /** Called when the thread has failed, which only a bug causes. Every later write is unavailable. */
  readonly onFatal: (error: Error) => void;
  /** Limits the accepted and unanswered writes. Further ones are unavailable. Default: one of its own. */
  readonly admission?: Pick<Admission, 'rooms'>;
  /** Time limit of a write. Default 10 s. */
  readonly answerTimeoutMs?: number;
  /** Maximum heap of the thread. Default 512. */
  readonly maxHeapMb?: number;
  /** Default `sqlite-writer-thread.ts`. */
  readonly entry?: URL;
}

interface PendingWrite {
  /** The project for which the write is made. */
  readonly owner: string;
  readonly message: WriteMessage;
  readonly bytes: number;
  readonly resolve: (answer: WriteAnswer) => void;
  readonly reject: (error: UnavailableError) => void;
}

const defaultEntry = new URL('./sqlite-writer-thread.ts', import.meta.url);
/** Maximum number of writes that the thread has, so that the first write of a project waits for few of another one. */
const maxSentWrites = 512;
const maxSentBytes = 8 * 1024 * 1024;
/** Time limit of a close, which is a part of the ten seconds in which the service must stop. */
const closeTimeoutMs = 3_000;
/** The 64 MiB of writes that may wait take about 130 MB. The thread's garbage is the messages that it receives. */
const writerHeap: ThreadHeap = {
  thread: 'writes the small SQLite files',
  maxOldGenerationSizeMb: 512,
  maxYoungGenerationSizeMb: 4,
};

/**
 * The thread that writes the small SQLite files of the data folder, so that no disk sync stops the event loop. It
 * commits what waits for a file in one transaction. The tables must exist; the main thread reads them with connections
 * of its own, which see every write that was answered.
 */
export class SqliteWriter {
  readonly #answerTimeoutMs: number;
  readonly #onFatal: (error: Error) => void;
  readonly #thread: Worker;
  readonly #exited: Promise<void>;
  readonly #room: FairPlaces;
  readonly #waiting = new FairQueue<PendingWrite>();
  /** The writes that the thread has, in the order of the messages, as the answers are. */
  readonly #sent: PendingWrite[] = [];
  #sentBytes = 0;
  #isFlushing = false;
  /** True while the thread must still be asked to end, after the last write. */
  #isClosing = false;
  /** Why no more writes are accepted; null while they are. */
  #stopped: string | null = null;
  #closing: Promise<void> | null = null;

  /** Does not wait for the start of the thread. */
  constructor(options: SqliteWriterOptions) {
    const { admission = new Admission(), answerTimeoutMs = 10_000 } = options;
    this.#room = admission.rooms['small write'];
    this.#answerTimeoutMs = answerTimeoutMs;
    this.#onFatal = options.onFatal;
    const heap = { ...writerHeap, maxOldGenerationSizeMb: options.maxHeapMb ?? writerHeap.maxOldGenerationSizeMb };
    this.#thread = new Worker(options.entry ?? defaultEntry, {
      name: 'sqlite-writer',
      resourceLimits: heap,
    });
    this.#thread.on('message', (answers: FromSqliteWriter) => this.#receive(answers));
    this.#thread.on('error', (error) => this.#failed(threadError(error, heap)));
    this.#exited = new Promise((resolve) => {
      this.#thread.once('exit', () => {
        this.#failed(new Error('The thread that writes SQLite files has ended.'));
        resolve();
      });
    });
  }

  /**
   * The write is committed when the promise resolves.
   * @returns `refused` if the query `unless` has found a row, so that nothing was written
   * @throws UnavailableError; after a timeout the write may still be executed
   * @throws RefusedWriteError if SQLite does not accept the values
   */
  async write(file: WrittenFile, write: SqlWrite): Promise<'done' | 'refused'> {
    const answer = await withTimeoutError(
      this.#answerTimeoutMs,
      this.#send(file, write),
      () => new UnavailableError(`${file.contents} cannot be written: the thread that writes them does not answer.`),
    );
    if (answer.kind !== 'failed') return answer.kind;
    const message = `${file.contents} cannot be written: ${answer.detail}.`;
    throw answer.isRefusal ? new RefusedWriteError(message) : new UnavailableError(message);
  }

  /** Refuses further writes, waits until the accepted ones are written, for 3 s at most, and ends the thread. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#isClosing = this.#stopped === null;
    this.#stopped ??= 'The writer of SQLite files is closed.';
    this.#flush();
    const limit = setTimeout(() => void this.#thread.terminate(), closeTimeoutMs);
    await this.#exited.finally(() => clearTimeout(limit));
  }

  /** The write counts until it is answered, even after its timeout, so that the queue stays bounded. */
  #send(file: WrittenFile, write: SqlWrite): Promise<WriteAnswer> {
    if (this.#stopped !== null) return Promise.reject(new UnavailableError(this.#stopped));
    const owner = currentOwner();
    const bytes = bytesOf(write);
    if (!this.#room.take(owner, bytes))
      return Promise.reject(new UnavailableError('Too many writes are waiting for the writer of SQLite files.'));
    const { promise, resolve, reject } = Promise.withResolvers<WriteAnswer>();
    this.#waiting.push(owner, { owner, message: { kind: 'write', file, write }, bytes, resolve, reject });
    if (!this.#isFlushing) setImmediate(this.#flush);
    this.#isFlushing = true;
    return promise;
  }

  /** Sends what the thread may have now, together: a message to a thread costs much more than what is in it. */
  readonly #flush = (): void => {
    this.#isFlushing = false;
    const outgoing: ToSqliteWriter[] = [];
    for (let write = this.#nextToSend(); write !== undefined; write = this.#nextToSend()) {
      this.#sent.push(write);
      this.#sentBytes += write.bytes;
      outgoing.push(write.message);
    }
    if (this.#isClosing && this.#waiting.size === 0) {
      this.#isClosing = false;
      outgoing.push({ kind: 'close' });
    }
    if (outgoing.length > 0) this.#thread.postMessage(outgoing);
  };

  #nextToSend(): PendingWrite | undefined {
    const isFull = this.#sent.length >= maxSentWrites || this.#sentBytes >= maxSentBytes;
    return isFull ? undefined : this.#waiting.shift();
  }

  #receive(answers: FromSqliteWriter): void {
    for (const [index, write] of this.#sent.splice(0, answers.length).entries()) {
      this.#sentBytes -= write.bytes;
      this.#giveBack(write);
      write.resolve(answers[index] ?? { kind: 'failed', detail: 'the answer is missing', isRefusal: false });
    }
    this.#flush();
  }

  /** Must be called for every end of the thread, at first with its error. */
  #failed(error: Error): void {
    const isUnexpected = this.#stopped === null;
    this.#stopped ??= 'The writer of SQLite files has stopped.';
    const lost = this.#sent.splice(0);
    for (let write = this.#waiting.shift(); write !== undefined; write = this.#waiting.shift()) lost.push(write);
    for (const write of lost) {
      this.#giveBack(write);
      write.reject(new UnavailableError(this.#stopped));
    }
    if (isUnexpected) this.#onFatal(error);
  }

  #giveBack({ owner, bytes }: PendingWrite): void {
    this.#room.giveBack(owner, bytes);
  }
}

/** The approximate size of its parameters. */
function bytesOf({ statements }: SqlWrite): number {
  let bytes = 0;
  for (const { rows } of statements)
    for (const row of rows)
      for (const value of row) bytes += typeof value === 'string' || value instanceof Uint8Array ? value.length : 8;
  return bytes;
}

export type SqlValue = string | number | null | Uint8Array;

/** A statement that is executed once for each row of parameters. */
export interface SqlStatement {
  readonly sql: string;
  readonly rows: ReadonlyArray<ReadonlyArray<SqlValue>>;
}

export interface WrittenFile {
  readonly path: string;
  /** What the file holds, for messages, which must not contain its path: "The subject keys". */
  readonly contents: string;
  /** True if a write is on the disk when it is answered. Otherwise a crash of the machine may lose the last writes. */
  readonly isDurable: boolean;
  /** True if all deleted bytes are set to zero, which takes as long as to write them. */
  readonly isZeroed: boolean;
}

/** A write, of which all statements are executed, or none. */
export interface SqlWrite {
  readonly statements: ReadonlyArray<SqlStatement>;
  /** If this query finds a row, nothing is written, and the write is answered with `refused`. */
  readonly unless?: { readonly sql: string; readonly values: ReadonlyArray<SqlValue> };
  /** True to empty the write-ahead log before the answer, so that no earlier value is left in it. */
  readonly emptiesLog?: boolean;
}

export interface WriteMessage {
  readonly kind: 'write';
  readonly file: WrittenFile;
  readonly write: SqlWrite;
}

export type ToSqliteWriter = WriteMessage | { readonly kind: 'close' };

export type WriteAnswer =
  | { readonly kind: 'done' | 'refused' }
  /** Nothing was written, but for a write whose log could not be emptied. */
  | {
      readonly kind: 'failed';
      readonly detail: string;
      /** True if SQLite does not accept the values, so that another try changes nothing. */
      readonly isRefusal: boolean;
    };

/** Answers in the order of the messages. */
export type FromSqliteWriter = ReadonlyArray<WriteAnswer>;
