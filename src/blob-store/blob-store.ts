import type { Readable } from 'node:stream';

/** From the byte `start`, counted from 0, up to the byte `end`, which is excluded. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

export interface ListedBlob {
  readonly id: string;
  readonly bytes: number;
  readonly storedAt: Date;
}

export interface PutOptions {
  /** `existing`: a file with the same id stays as it is. */
  readonly keep?: 'existing';
}

export interface BlobStore {
  /**
   * Stores a file completely or not at all, durably. It replaces a file with the same id, unless the options keep that.
   * @param id letters, digits, `-` and `_`, at most 128
   * @param maxBytes maximum bytes of the file
   * @returns the number of bytes
   * @throws BlobTooLargeError; UnavailableError; what `content` throws
   */
  put(id: string, content: AsyncIterable<Uint8Array>, maxBytes: number, options?: PutOptions): Promise<number>;
  /**
   * Opens a file. A later `put` does not change the opened contents. The caller must read the
   * stream to its end or destroy it. The stream fails with UnavailableError.
   * @param range the part to read; default the whole file
   * @throws UnavailableError
   */
  get(id: string, range?: ByteRange): Promise<Readable | null>;
  /** The size in bytes; null if the blob does not exist. @throws UnavailableError */
  size(id: string): Promise<number | null>;
  /** An absent file is not an error. @throws UnavailableError */
  delete(id: string): Promise<void>;
  /** Lists blobs in any order. @throws UnavailableError */
  list(prefix: string): AsyncIterable<ListedBlob>;
  /** Does not wait for running calls. */
  close(): Promise<void>;
}

export class BlobTooLargeError extends Error {
  override readonly name = 'BlobTooLargeError';
  readonly maxBytes: number;

  constructor(maxBytes: number) {
    super(`A file may hold ${maxBytes} bytes at most.`);
    this.maxBytes = maxBytes;
  }
}

/** @throws Error if an id is not one that every store can keep */
export function assertBlobId(id: string): void {
  if (!/^[A-Za-z0-9_-]{1,128}$/.test(id)) throw new Error(`${JSON.stringify(id.slice(0, 60))} is not an id of a file.`);
}
