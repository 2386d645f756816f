import type { Readable } from 'node:stream';

/** A part of a file: from its byte `start` (0 is the first) up to but without its byte `end`. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** A file as a list names it. */
export interface ListedBlob {
  readonly id: string;
  readonly bytes: number;
  /** When its content was stored. */
  readonly storedAt: Date;
}

/** Keeps files, by ids that the caller makes. */
export interface BlobStore {
  /**
   * Stores a file whole or not at all, durably, in place of one that had its id.
   * @param id letters, digits, `-` and `_`, 128 at most
   * @param maxBytes what it may hold at most
   * @returns its bytes
   * @throws BlobTooLarge; UnavailableError; what `content` throws
   */
  put(id: string, content: AsyncIterable<Uint8Array>, maxBytes: number): Promise<number>;
  /**
   * Opens a file; null when there is none. A later `put` does not change the opened contents. The caller must read the
   * stream to its end or destroy it. The stream fails with UnavailableError.
   * @param range the part that is wanted; default all of it
   * @throws UnavailableError
   */
  get(id: string, range?: ByteRange): Promise<Readable | null>;
  /** A file's bytes; null when there is none. @throws UnavailableError */
  size(id: string): Promise<number | null>;
  /** Removes a file, if there is one. @throws UnavailableError */
  delete(id: string): Promise<void>;
  /** Every file whose id begins so, in no order. @throws UnavailableError */
  list(prefix: string): AsyncIterable<ListedBlob>;
  /** Waits for nothing that is under way. */
  close(): Promise<void>;
}

/** More was given than a file may hold. */
export class BlobTooLarge extends Error {
  override readonly name = 'BlobTooLarge';
  readonly maxBytes: number;

  constructor(maxBytes: number) {
    super(`A file may hold ${maxBytes} bytes at most.`);
    this.maxBytes = maxBytes;
  }
}

/** @throws Error if an id is not one that every store can keep */
export function assertBlobId(id: string): void {
  if (!/^[A-Za-z0-9_-]{1,128}$/.test(id)) throw new Error(`${JSON.stringify(id.slice(0, 60))} is no id of a file.`);
}
