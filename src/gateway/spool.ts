import { randomUUID } from 'node:crypto';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { heldBytesOf } from '#http/body-bytes.ts';
import type { ByteHold } from '#src/byte-budget.ts';
import type { StoredBody } from './transport.ts';
import { passedThrough } from './upload-garbage.ts';

/** Bytes that are kept in memory; what is more goes to a file. */
const memoryBytes = 1024 * 1024;
/** Written to the file and read from it at a time. */
const pieceBytes = 128 * 1024;

/** A stretch of a spool's bytes, or bytes put between. */
export type Piece = { readonly start: number; readonly end: number } | Buffer;

export interface SpoolOptions {
  /** Where its file is made. */
  readonly folder: string;
  /** Counts its bytes as they arrive: those that have gone to the file are given back. */
  readonly memory: ByteHold;
}

/**
 * Keeps an upload that may be large: the first of it in memory, the rest in a temporary file that has no name any more
 * once it is open, so that nothing is left of it whatever happens to the process.
 */
export class Spool {
  readonly #folder: string;
  readonly #inMemory: ByteHold;
  readonly #memory: Buffer[] = [];
  #memoryLength = 0;
  #file: FileHandle | null = null;
  #fileLength = 0;
  #waiting: Buffer[] = [];
  #waitingLength = 0;

  constructor({ folder, memory }: SpoolOptions) {
    this.#folder = folder;
    this.#inMemory = memory;
  }

  /** Bytes so far. */
  get bytes(): number {
    return this.#memoryLength + this.#fileLength + this.#waitingLength;
  }

  /** Takes bytes; resolves when there is room for more. */
  async write(chunk: Buffer): Promise<void> {
    if (this.#memoryLength + chunk.length <= memoryBytes && this.#file === null && this.#waitingLength === 0) {
      this.#memory.push(chunk);
      this.#memoryLength += chunk.length;
      return;
    }
    this.#waiting.push(chunk);
    this.#waitingLength += chunk.length;
    passedThrough(chunk.length);
    if (this.#waitingLength >= pieceBytes) await this.#writeOut();
  }

  /** Everything has come. */
  async finish(): Promise<void> {
    if (this.#waitingLength > 0) await this.#writeOut();
  }

  /** A body made of pieces of this one; it can be read any number of times. */
  body(pieces: ReadonlyArray<Piece>): StoredBody {
    const bytes = pieces.reduce(
      (sum, piece) => sum + (Buffer.isBuffer(piece) ? piece.length : piece.end - piece.start),
      0,
    );
    return { bytes, open: () => Readable.from(this.#read(pieces), { objectMode: false }) };
  }

  /** Lets the file go. Bodies cannot be read any more. */
  async close(): Promise<void> {
    const file = this.#file;
    this.#file = null;
    await file?.close();
  }

  async #writeOut(): Promise<void> {
    const file = this.#file ?? (await this.#openFile());
    let waiting: ReadonlyArray<Buffer> = this.#waiting;
    const held = waiting.reduce((sum, piece) => sum + heldBytesOf(piece), 0);
    this.#waiting = [];
    this.#waitingLength = 0;
    // One write may take a part only.
    while (waiting.length > 0) {
      const { bytesWritten } = await file.writev(waiting, this.#fileLength);
      this.#fileLength += bytesWritten;
      waiting = without(waiting, bytesWritten);
    }
    this.#inMemory.giveBack(held);
  }

  async #openFile(): Promise<FileHandle> {
    const path = join(this.#folder, `switchyard-upload-${randomUUID()}`);
    const file = await open(path, 'wx+', 0o600);
    this.#file = file;
    await unlink(path);
    return file;
  }

  async *#read(pieces: ReadonlyArray<Piece>): AsyncGenerator<Buffer> {
    for (const piece of pieces) {
      if (Buffer.isBuffer(piece)) yield piece;
      else yield* this.#readStretch(piece.start, piece.end);
    }
  }

  async *#readStretch(start: number, end: number): AsyncGenerator<Buffer> {
    let from = 0;
    for (const chunk of this.#memory) {
      const part = chunk.subarray(Math.max(0, start - from), Math.max(0, Math.min(chunk.length, end - from)));
      if (part.length > 0) yield part;
      from += chunk.length;
    }
    const fileEnd = end - this.#memoryLength;
    for (let at = Math.max(0, start - this.#memoryLength); at < fileEnd; ) {
      if (this.#file === null) throw new Error('The upload is not kept any more');
      const piece = Buffer.allocUnsafe(Math.min(pieceBytes, fileEnd - at));
      const { bytesRead } = await this.#file.read(piece, 0, piece.length, at);
      if (bytesRead === 0) throw new Error('The upload is shorter than it was');
      yield piece.subarray(0, bytesRead);
      at += bytesRead;
      passedThrough(bytesRead);
    }
  }
}

/** Buffers without so many of their first bytes. */
function without(buffers: ReadonlyArray<Buffer>, bytes: number): ReadonlyArray<Buffer> {
  let left = bytes;
  return buffers.flatMap((buffer) => {
    const taken = Math.min(left, buffer.length);
    left -= taken;
    return taken === buffer.length ? [] : [buffer.subarray(taken)];
  });
}
