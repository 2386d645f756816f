import { Readable } from 'node:stream';
import { type Binary, type Db, GridFSBucket, type GridFSBucketWriteStream, ObjectId } from 'mongodb';
import { MongoDbConnection, type MongoDbConnectionOptions } from '#mongodb/mongodb-connection.ts';
import { clock } from '#shared/clock.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import {
  assertBlobId,
  type BlobStore,
  BlobTooLargeError,
  type ByteRange,
  type ListedBlob,
  type PutOptions,
} from './blob-store.ts';

const bucketName = 'blobContents';
/** An unread download holds one chunk. */
const chunkSizeBytes = 64 * 1024;
/** An upload stores four chunks at the same time. */
const writtenTogetherBytes = 4 * chunkSizeBytes;
const blobsName = 'blobs';
const leftoversName = 'blobLeftovers';
/** The age of an upload that no longer runs, because its process has ended. */
const abandonedAfterMs = 24 * 60 * 60 * 1000;
const sweepIntervalMs = 60 * 60 * 1000;
const maxSweep = 100;
const listedAtOnce = 1_000;

/** A blob in one document, so that new content replaces old content in one step. */
interface BlobRecord {
  readonly _id: string;
  readonly file: ObjectId;
  readonly bytes: number;
}

interface Chunk {
  readonly files_id: ObjectId;
  readonly n: number;
  readonly data: Binary;
}

/** A GridFS file that may be unreferenced: its upload is running or has failed, or it was replaced. */
interface Leftover {
  readonly _id: ObjectId;
  readonly blob: string;
  readonly since: Date;
}

/** It connects at the first call. */
export function openGridFsBlobStore(options: MongoDbConnectionOptions): BlobStore {
  return new GridFsBlobStore(new MongoDbConnection(options));
}

class GridFsBlobStore implements BlobStore {
  readonly #connection: MongoDbConnection;
  #sweepAt = 0;
  /** The running sweep, for which no caller waits. */
  #sweeping: Promise<void> = Promise.resolve();

  constructor(connection: MongoDbConnection) {
    this.#connection = connection;
  }

  async put(
    id: string,
    content: AsyncIterable<Uint8Array>,
    maxBytes: number,
    { keep }: PutOptions = {},
  ): Promise<number> {
    assertBlobId(id);
    const file = new ObjectId();
    await this.#noteLeftover(file, id);
    const bytes = await this.#upload(id, file, content, maxBytes);
    const unused = await (keep === 'existing' ? this.#nameNew(id, { file, bytes }) : this.#name(id, { file, bytes }));
    // An unused file of this call stays noted until it is discarded.
    if (unused?.equals(file) !== true) await this.#forgetLeftover(file);
    if (unused !== null) await this.#discard(unused, id);
    this.#sweepWhenDue();
    return bytes;
  }

  /** @returns the file that the blob had before; null without one */
  async #name(id: string, content: Omit<BlobRecord, '_id'>): Promise<ObjectId | null> {
    const before = await this.#connection.call((database) =>
      database
        .collection<BlobRecord>(blobsName)
        .findOneAndUpdate({ _id: id }, { $set: content }, { upsert: true, returnDocument: 'before' }),
    );
    return before?.file ?? null;
  }

  /** Gives a blob its content if it has none. @returns the file of the content if the blob has another one; else null */
  async #nameNew(id: string, content: Omit<BlobRecord, '_id'>): Promise<ObjectId | null> {
    // The answer to a first attempt may be lost. So the document says whose content it is.
    const named = await this.#connection.call((database) =>
      database
        .collection<BlobRecord>(blobsName)
        .findOneAndUpdate({ _id: id }, { $setOnInsert: content }, { upsert: true, returnDocument: 'after' }),
    );
    return named === null || named.file.equals(content.file) ? null : content.file;
  }

  async get(id: string, range?: ByteRange): Promise<Readable | null> {
    const blob = await this.#find(id);
    if (blob === null) return null;
    const start = Math.min(range?.start ?? 0, blob.bytes);
    const end = Math.min(range?.end ?? blob.bytes, blob.bytes);
    // Nothing is read ahead of the consumer, and no cursor stays open while it is waited for.
    return Readable.from(this.#chunks(blob.file, start, end), { objectMode: false, highWaterMark: 0 });
  }

  async size(id: string): Promise<number | null> {
    return (await this.#find(id))?.bytes ?? null;
  }

  async delete(id: string): Promise<void> {
    assertBlobId(id);
    const blob = await this.#connection.call((database) =>
      database.collection<BlobRecord>(blobsName).findOneAndDelete({ _id: id }),
    );
    if (blob !== null) await this.#discard(blob.file, id);
  }

  async *list(prefix: string): AsyncIterable<ListedBlob> {
    let after = '';
    for (;;) {
      const page = await this.#connection.call((database) =>
        database
          .collection<BlobRecord>(blobsName)
          .find(
            { _id: { $gt: after, $gte: prefix, $lt: `${prefix}\uffff` } },
            { sort: { _id: 1 }, limit: listedAtOnce },
          )
          .toArray(),
      );
      // A file of GridFS has the moment at which its upload began in its id.
      for (const { _id, bytes, file } of page) yield { id: _id, bytes, storedAt: file.getTimestamp() };
      if (page.length < listedAtOnce) return;
      after = page.at(-1)?._id ?? '';
    }
  }

  async close(): Promise<void> {
    await this.#connection.close();
    await this.#sweeping;
  }

  async #upload(id: string, file: ObjectId, content: AsyncIterable<Uint8Array>, maxBytes: number): Promise<number> {
    let stream: GridFSBucketWriteStream | null = null;
    try {
      // The first commands of a stream belong to the call that opens it, and are not sent after that.
      const open = (database: Db) => {
        stream ??= openUpload(database, id, file);
        return stream;
      };
      return await this.#write(open, content, maxBytes);
    } catch (error) {
      // If the server does not answer, a later sweep removes what it may have stored.
      if (!(error instanceof UnavailableError)) await this.#discard(file, id);
      throw error;
    }
  }

  async #write(
    open: (database: Db) => GridFSBucketWriteStream,
    content: AsyncIterable<Uint8Array>,
    maxBytes: number,
  ): Promise<number> {
    let bytes = 0;
    let pieces: Uint8Array[] = [];
    let pieceBytes = 0;
    const writePieces = async () => {
      const together = Buffer.concat(pieces, pieceBytes);
      [pieces, pieceBytes] = [[], 0];
      await this.#connection.call((database) => called((done) => open(database).write(together, done)));
    };
    for await (const piece of content) {
      bytes += piece.byteLength;
      if (bytes > maxBytes) throw new BlobTooLargeError(maxBytes);
      pieces.push(piece);
      pieceBytes += piece.byteLength;
      if (pieceBytes >= writtenTogetherBytes) await writePieces();
    }
    if (pieceBytes > 0) await writePieces();
    await this.#connection.call((database) => called((done) => open(database).end(done)));
    return bytes;
  }

  async *#chunks(file: ObjectId, start: number, end: number): AsyncGenerator<Uint8Array, void, void> {
    if (start >= end) return;
    const size = await this.#chunkSizeOf(file);
    for (let n = Math.floor(start / size); n * size < end; n += 1) {
      const chunk = await this.#connection.call((database) =>
        database.collection<Chunk>(`${bucketName}.chunks`).findOne({ files_id: file, n }),
      );
      if (chunk === null) throw replacedOrDeleted();
      yield chunk.data.value().subarray(Math.max(start - n * size, 0), end - n * size);
    }
  }

  /** The size of the file's chunks. Releases before 0.4 stored larger ones. */
  async #chunkSizeOf(file: ObjectId): Promise<number> {
    const found = await this.#connection.call((database) =>
      database
        .collection<{ readonly _id: ObjectId; readonly chunkSize: number }>(`${bucketName}.files`)
        .findOne({ _id: file }),
    );
    if (found === null) throw replacedOrDeleted();
    return found.chunkSize;
  }

  async #find(id: string): Promise<BlobRecord | null> {
    assertBlobId(id);
    return this.#connection.call((database) => database.collection<BlobRecord>(blobsName).findOne({ _id: id }));
  }

  async #noteLeftover(file: ObjectId, blob: string): Promise<void> {
    await this.#connection.call((database) =>
      database
        .collection<Leftover>(leftoversName)
        .updateOne({ _id: file }, { $setOnInsert: { blob, since: new Date(clock.time()) } }, { upsert: true }),
    );
  }

  async #forgetLeftover(file: ObjectId): Promise<void> {
    await this.#connection.call((database) => database.collection<Leftover>(leftoversName).deleteOne({ _id: file }));
  }

  /** Removes the file now if possible, else at a later sweep. */
  async #discard(file: ObjectId, blob: string): Promise<void> {
    try {
      await this.#noteLeftover(file, blob);
      await this.#connection.call(async (database) => {
        await database.collection(`${bucketName}.files`).deleteOne({ _id: file });
        await database.collection(`${bucketName}.chunks`).deleteMany({ files_id: file });
      });
      await this.#forgetLeftover(file);
    } catch (error) {
      // The requested change is done. Only the leftovers wait for a sweep.
      if (!(error instanceof UnavailableError)) throw error;
    }
  }

  #sweepWhenDue(): void {
    if (clock.now() < this.#sweepAt) return;
    this.#sweepAt = clock.now() + sweepIntervalMs;
    // What a failed sweep leaves waits for the next one.
    this.#sweeping = this.#sweep().catch(() => undefined);
  }

  async #sweep(): Promise<void> {
    const abandoned = await this.#connection.call((database) =>
      database
        .collection<Leftover>(leftoversName)
        .find({ since: { $lt: new Date(clock.time() - abandonedAfterMs) } }, { limit: maxSweep })
        .toArray(),
    );
    for (const { _id, blob } of abandoned) {
      const used = (await this.#find(blob))?.file.equals(_id) === true;
      await (used ? this.#forgetLeftover(_id) : this.#discard(_id, blob));
    }
  }
}

function bucketOf(database: Db): GridFSBucket {
  return new GridFSBucket(database, { bucketName, chunkSizeBytes });
}

function openUpload(database: Db, id: string, file: ObjectId): GridFSBucketWriteStream {
  const stream = bucketOf(database).openUploadStreamWithId(file, id);
  return stream.on('error', () => undefined);
}

const replacedOrDeleted = () => new UnavailableError('The file was replaced or deleted while it was read.');

function called(call: (done: (error?: Error | null) => void) => unknown): Promise<void> {
  return new Promise((resolve, reject) => {
    call((error) => (error ? reject(error) : resolve()));
  });
}
