import type { FileHandle } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { diskFull, isDiskFull } from '#application/operations/unexpected-error.ts';
import { type Failure, failure } from '#domain/shared/failure.ts';
import { heldBytesOf } from '#exchange/body.ts';
import type { ByteReservation, ByteShortage } from '#exchange/byte-budget.ts';
import { countReleasedBytes } from '#exchange/minor-gc.ts';
import type { StoredBody } from '#gateway/transport/transport.ts';

/** Number of bytes in memory. Further ones go to a file. */
const memoryBytes = 1024 * 1024;
/** Number of bytes of one write to the file and of one read from it. */
const pieceBytes = 128 * 1024;

/** A range of a spool's bytes, or inserted bytes. */
export type Piece = { readonly start: number; readonly end: number } | Buffer;

interface SpoolOptions {
  readonly makeFile: () => Promise<FileHandle>;
  /** Counts the bytes in memory. Those that were written to the file are released. */
  readonly memory: ByteReservation;
  /** Counts the bytes in the file; released when the spool is closed. */
  readonly disk: ByteReservation;
  /** The shortage; null if the file can take this many more bytes. */
  readonly shortageOf: (bytes: number) => Promise<Failure | null>;
}

/**
 * Keeps an upload that may be large: the first bytes in memory, the rest in a temporary file. The file is unlinked as
 * soon as it is open, so that it disappears even if the process crashes.
 */
export class Spool {
  readonly #options: SpoolOptions;
  readonly #memory: Buffer[] = [];
  #memoryLength = 0;
  #file: FileHandle | null = null;
  #fileLength = 0;
  #waiting: Buffer[] = [];
  #waitingLength = 0;
  #refusal: Failure | null = null;

  constructor(options: SpoolOptions) {
    this.#options = options;
  }

  /** Why bytes were refused; null while none were. */
  get refusal(): Failure | null {
    return this.#refusal;
  }

  /** The shortage; null if there is room for an upload of this many bytes now. */
  async shortageOf(bytes: number): Promise<Failure | null> {
    return bytes <= memoryBytes ? null : this.#options.shortageOf(bytes - memoryBytes);
  }

  get bytes(): number {
    return this.#memoryLength + this.#fileLength + this.#waitingLength;
  }

  /**
   * Resolves when there is room for more.
   * @returns false if there is no room for these bytes: `refusal` has the reason, and the spool accepts no more
   */
  async write(chunk: Buffer): Promise<boolean> {
    if (this.#memoryLength + chunk.length <= memoryBytes && this.#file === null && this.#waitingLength === 0) {
      this.#memory.push(chunk);
      this.#memoryLength += chunk.length;
      return true;
    }
    this.#waiting.push(chunk);
    this.#waitingLength += chunk.length;
    countReleasedBytes(chunk.length);
    return this.#waitingLength < pieceBytes || this.#writeOut();
  }

  /** @returns false if there is no room for its last bytes */
  async finish(): Promise<boolean> {
    return this.#waitingLength === 0 || this.#writeOut();
  }

  /** A body, which can be read any number of times. */
  body(pieces: ReadonlyArray<Piece>): StoredBody {
    const bytes = pieces.reduce(
      (sum, piece) => sum + (Buffer.isBuffer(piece) ? piece.length : piece.end - piece.start),
      0,
    );
    return { bytes, open: () => Readable.from(this.#read(pieces), { objectMode: false }) };
  }

  /** Closes the spool. Afterwards the bodies of this upload cannot be read. */
  async close(): Promise<void> {
    const file = this.#file;
    this.#file = null;
    await file?.close();
    this.#options.disk.release();
  }

  /** @returns false if there is no room for the waiting bytes */
  async #writeOut(): Promise<boolean> {
    const bytes = this.#waitingLength;
    this.#refusal ??= (await this.#options.shortageOf(bytes)) ?? this.#reserve(bytes);
    if (this.#refusal !== null) return false;
    try {
      await this.#writeToFile();
    } catch (error) {
      if (!isDiskFull(error)) throw error;
      this.#refusal = diskFull;
    }
    return this.#refusal === null;
  }

  #reserve(bytes: number): Failure | null {
    const shortage = this.#options.disk.take(bytes);
    return shortage === null ? null : spoolShortageFailure(shortage);
  }

  async #writeToFile(): Promise<void> {
    const file = this.#file ?? (await this.#openFile());
    let waiting: ReadonlyArray<Buffer> = this.#waiting;
    const held = waiting.reduce((sum, piece) => sum + heldBytesOf(piece), 0);
    this.#waiting = [];
    this.#waitingLength = 0;
    // One write may store only a part.
    while (waiting.length > 0) {
      const { bytesWritten } = await file.writev(waiting, this.#fileLength);
      this.#fileLength += bytesWritten;
      waiting = without(waiting, bytesWritten);
    }
    this.#options.memory.giveBack(held);
  }

  async #openFile(): Promise<FileHandle> {
    const file = await this.#options.makeFile();
    this.#file = file;
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
      countReleasedBytes(bytesRead);
    }
  }
}

function without(buffers: ReadonlyArray<Buffer>, bytes: number): ReadonlyArray<Buffer> {
  let left = bytes;
  return buffers.flatMap((buffer) => {
    const taken = Math.min(left, buffer.length);
    left -= taken;
    return taken === buffer.length ? [] : [buffer.subarray(taken)];
  });
}

const retryAfterSeconds = 5;

/** The failure of an upload whose bytes would exceed a limit. */
export function spoolShortageFailure(shortage: ByteShortage): Failure {
  return shortage === 'project' ? projectFull : nodeFull;
}

const projectFull = failure(
  'too-many-spool-bytes',
  'The uploads of this project take as much disk as they may. Try again when one has been answered.',
  { retryAfterSeconds },
);

const nodeFull = failure(
  'spool-full',
  'The uploads of all projects take as much disk as this node has for them. Try again later.',
  { retryAfterSeconds },
);
