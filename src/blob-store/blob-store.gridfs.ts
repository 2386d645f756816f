import { Readable } from 'node:stream';
import { type Db, GridFSBucket, type GridFSBucketWriteStream, MongoRuntimeError, ObjectId } from 'mongodb';
import { MongoDbConnection, type MongoDbConnectionOptions } from '#mongodb/mongodb-connection.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { assertBlobId, type BlobStore, BlobTooLargeError, type ByteRange, type ListedBlob } from './blob-store.ts';

const bucketName = 'blobContents';
const blobsName = 'blobs';
const leftoversName = 'blobLeftovers';
/** The age of an upload that no longer runs, because its process has ended. */
const abandonedAfterMs = 24 * 60 * 60 * 1000;
const sweepIntervalMs = 60 * 60 * 1000;
const maxSweep = 100;
const listedAtOnce = 1_000;

/** Names the content of a blob, in one document, so that new content replaces old content in one step. */
interface BlobRecord {
  readonly _id: string;
  /** The file of GridFS. */
  readonly file: ObjectId;
  readonly bytes: number;
}

/** A GridFS file that may be unreferenced: its upload is running or has failed, or it was replaced. */
interface Leftover {
  readonly _id: ObjectId;
  readonly blob: string;
  readonly since: Date;
}

/** Opens a blob store on MongoDB's GridFS. It connects at the first call. */
export function openGridFsBlobStore(options: MongoDbConnectionOptions): BlobStore {
  return new GridFsBlobStore(new MongoDbConnection(options));
}

class GridFsBlobStore implements BlobStore {
  readonly #connection: MongoDbConnection;
  #sweepAt = 0;

  constructor(connection: MongoDbConnection) {
    this.#connection = connection;
  }

  async put(id: string, content: AsyncIterable<Uint8Array>, maxBytes: number): Promise<number> {
    assertBlobId(id);
    await this.#sweepWhenDue();
    const file = new ObjectId();
    await this.#noteLeftover(file, id);
    const bytes = await this.#upload(id, file, content, maxBytes);
    const before = await this.#connection.call((database) =>
      database
        .collection<BlobRecord>(blobsName)
        .findOneAndUpdate({ _id: id }, { $set: { file, bytes } }, { upsert: true, returnDocument: 'before' }),
    );
    await this.#forgetLeftover(file);
    if (before !== null) await this.#discard(before.file, id);
    return bytes;
  }

  async get(id: string, range?: ByteRange): Promise<Readable | null> {
    const blob = await this.#find(id);
    if (blob === null) return null;
    const start = Math.min(range?.start ?? 0, blob.bytes);
    const end = Math.min(range?.end ?? blob.bytes, blob.bytes);
    // For an empty part the driver would return one byte.
    if (start >= end) return Readable.from([], { objectMode: false });
    const stream = await this.#connection.call(async (database) =>
      bucketOf(database).openDownloadStream(blob.file, { start, end }),
    );
    // The reader of the stream gets its failures too.
    stream.on('error', () => undefined);
    return Readable.from(this.#chunks(stream), { objectMode: false }).once('close', () => stream.destroy());
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

  close(): Promise<void> {
    return this.#connection.close();
  }

  async #upload(id: string, file: ObjectId, content: AsyncIterable<Uint8Array>, maxBytes: number): Promise<number> {
    const stream = await this.#connection.call(async (database) => bucketOf(database).openUploadStreamWithId(file, id));
    // The callbacks of its calls get its failures too.
    stream.on('error', () => undefined);
    try {
      return await this.#write(stream, content, maxBytes);
    } catch (error) {
      // If the server does not answer, a later sweep removes what it may have stored.
      if (!(error instanceof UnavailableError)) await this.#discard(file, id);
      throw error;
    }
  }

  async #write(stream: GridFSBucketWriteStream, content: AsyncIterable<Uint8Array>, maxBytes: number): Promise<number> {
    let bytes = 0;
    for await (const chunk of content) {
      bytes += chunk.byteLength;
      if (bytes > maxBytes) throw new BlobTooLargeError(maxBytes);
      await this.#connection.call(() => called((done) => stream.write(chunk, done)));
    }
    await this.#connection.call(() => called((done) => stream.end(done)));
    return bytes;
  }

  async *#chunks(stream: Readable): AsyncIterable<Uint8Array> {
    const chunks = stream.iterator();
    try {
      for (;;) {
        const next = await this.#connection.call(() => chunks.next());
        if (next.done === true) return;
        yield next.value;
      }
    } catch (error) {
      if (!(error instanceof MongoRuntimeError)) throw error;
      throw new UnavailableError('The file was replaced or deleted while it was read.');
    }
  }

  async #find(id: string): Promise<BlobRecord | null> {
    assertBlobId(id);
    return this.#connection.call((database) => database.collection<BlobRecord>(blobsName).findOne({ _id: id }));
  }

  async #noteLeftover(file: ObjectId, blob: string): Promise<void> {
    await this.#connection.call((database) =>
      database
        .collection<Leftover>(leftoversName)
        .updateOne({ _id: file }, { $setOnInsert: { blob, since: new Date() } }, { upsert: true }),
    );
  }

  async #forgetLeftover(file: ObjectId): Promise<void> {
    await this.#connection.call((database) => database.collection<Leftover>(leftoversName).deleteOne({ _id: file }));
  }

  /** Removes an unreferenced file: now if possible, else at a later sweep. */
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

  async #sweepWhenDue(): Promise<void> {
    if (performance.now() < this.#sweepAt) return;
    this.#sweepAt = performance.now() + sweepIntervalMs;
    const abandoned = await this.#connection.call((database) =>
      database
        .collection<Leftover>(leftoversName)
        .find({ since: { $lt: new Date(Date.now() - abandonedAfterMs) } }, { limit: maxSweep })
        .toArray(),
    );
    for (const { _id, blob } of abandoned) {
      const used = (await this.#find(blob))?.file.equals(_id) === true;
      await (used ? this.#forgetLeftover(_id) : this.#discard(_id, blob));
    }
  }
}

function bucketOf(database: Db): GridFSBucket {
  return new GridFSBucket(database, { bucketName });
}

function called(call: (done: (error?: Error | null) => void) => unknown): Promise<void> {
  return new Promise((resolve, reject) => {
    call((error) => (error ? reject(error) : resolve()));
  });
}
