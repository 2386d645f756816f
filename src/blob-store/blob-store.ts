import type { Readable } from 'node:stream';

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
   * Opens a file as it stands; null when there is none. The stream is to be read to its end or destroyed; it fails with
   * Unavailable.
   * @throws UnavailableError
   */
  get(id: string): Promise<Readable | null>;
  /** A file's bytes; null when there is none. @throws UnavailableError */
  size(id: string): Promise<number | null>;
  /** Removes a file, if there is one. @throws UnavailableError */
  delete(id: string): Promise<void>;
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
