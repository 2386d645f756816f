import { Readable } from 'node:stream';
import {
  assertBlobId,
  type BlobStore,
  BlobTooLargeError,
  type ByteRange,
  type ListedBlob,
  type PutOptions,
} from '#blob-store/blob-store.ts';
import { clock } from '#shared/clock.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';

/** The bytes that an unread download holds. */
const chunkBytes = 64 * 1024;

interface KeptFile {
  readonly bytes: Buffer;
  readonly storedAt: Date;
}

/** The files that the nodes of a world share, as one of them has them open. */
export class SharedBlobs implements BlobStore {
  readonly files: Map<string, KeptFile>;
  /** The ids of files that other content has replaced. */
  readonly replaced: string[];
  #isClosed = false;

  constructor(files = new Map<string, KeptFile>(), replaced: string[] = []) {
    this.files = files;
    this.replaced = replaced;
  }

  /** Opens the files for another node. */
  connect(): SharedBlobs {
    return new SharedBlobs(this.files, this.replaced);
  }

  async put(
    id: string,
    content: AsyncIterable<Uint8Array>,
    maxBytes: number,
    { keep }: PutOptions = {},
  ): Promise<number> {
    this.#check(id);
    const pieces: Uint8Array[] = [];
    let length = 0;
    for await (const piece of content) {
      length += piece.byteLength;
      if (length > maxBytes) throw new BlobTooLargeError(maxBytes);
      pieces.push(piece);
    }
    if (keep === 'existing' && this.files.has(id)) return length;
    const bytes = Buffer.concat(pieces);
    if (this.files.get(id)?.bytes.equals(bytes) === false) this.replaced.push(id);
    this.files.set(id, { bytes, storedAt: new Date(clock.time()) });
    return length;
  }

  async get(id: string, range?: ByteRange): Promise<Readable | null> {
    this.#check(id);
    const bytes = this.files.get(id)?.bytes.subarray(range?.start, range?.end);
    if (bytes === undefined) return null;
    return Readable.from(chunksOf(bytes), { objectMode: false, highWaterMark: 0 });
  }

  async size(id: string): Promise<number | null> {
    this.#check(id);
    return this.files.get(id)?.bytes.length ?? null;
  }

  async delete(id: string): Promise<void> {
    this.#check(id);
    this.files.delete(id);
  }

  async *list(prefix: string): AsyncGenerator<ListedBlob, void, void> {
    this.#ensureOpen();
    for (const [id, { bytes, storedAt }] of [...this.files])
      if (id.startsWith(prefix)) yield { id, bytes: bytes.length, storedAt };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
  }

  #check(id: string): void {
    assertBlobId(id);
    this.#ensureOpen();
  }

  /** @throws UnavailableError */
  #ensureOpen(): void {
    if (this.#isClosed) throw new UnavailableError('The blob store is closed.');
  }
}

async function* chunksOf(bytes: Buffer): AsyncGenerator<Buffer, void, void> {
  for (let start = 0; start < bytes.length; start += chunkBytes) yield bytes.subarray(start, start + chunkBytes);
}
