import type { IncomingHttpHeaders } from 'node:http';
import type { Transform } from 'node:stream';
import {
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  createZstdDecompress,
} from 'node:zlib';
import { encodingOf, isEventStream, type UpstreamCall, type UpstreamListener } from './transport.ts';

interface StreamEncoding {
  /** The window is the part of the stream that is kept in memory for repetitions. */
  readonly maxWindowBytes: number;
  readonly open: (first: Buffer) => Transform;
}

const kibibyte = 1024;
const mebibyte = 1024 * kibibyte;

/** A stream that is cut ends as it would without compression: its reader finds what is missing. */
const zlibOptions = { flush: constants.Z_SYNC_FLUSH, finishFlush: constants.Z_SYNC_FLUSH };
const brotliOptions = { flush: constants.BROTLI_OPERATION_FLUSH, finishFlush: constants.BROTLI_OPERATION_FLUSH };
/** The window is at most 8 MiB in HTTP (RFC 9659). */
const zstdOptions = {
  flush: constants.ZSTD_e_flush,
  finishFlush: constants.ZSTD_e_flush,
  params: { [constants.ZSTD_d_windowLogMax]: 23 },
};

const gzip: StreamEncoding = { maxWindowBytes: 32 * kibibyte, open: () => createGunzip(zlibOptions) };

const encodings = new Map<string, StreamEncoding>([
  ['gzip', gzip],
  ['x-gzip', gzip],
  ['deflate', { maxWindowBytes: 32 * kibibyte, open: openDeflate }],
  ['br', { maxWindowBytes: 16 * mebibyte, open: () => createBrotliDecompress(brotliOptions) }],
  ['zstd', { maxWindowBytes: 8 * mebibyte, open: () => createZstdDecompress(zstdOptions) }],
]);

/** Some servers send `deflate` without the header of zlib (RFC 9110, 8.4.1.2), whose first byte says its method. */
function openDeflate(first: Buffer): Transform {
  const isZlib = ((first[0] ?? 0) & 0x0f) === 8;
  return isZlib ? createInflate(zlibOptions) : createInflateRaw(zlibOptions);
}

/** The bytes that the decompression keeps: 0 if it is plain; null if its encoding is unknown. */
export function maxWindowBytes(headers: IncomingHttpHeaders): number | null {
  const encoding = encodingOf(headers);
  return encoding === '' ? 0 : (encodings.get(encoding)?.maxWindowBytes ?? null);
}

export class DecompressionError extends Error {
  constructor(cause: Error) {
    super('The stream cannot be decompressed', { cause });
  }
}

/**
 * A compressed event stream is decompressed on the way, as fast as its listener takes it: the provider is read no
 * faster, whatever its bytes become.
 */
export class DecompressedStream implements UpstreamListener, UpstreamCall {
  readonly #listener: UpstreamListener;
  readonly #call: UpstreamCall;
  /** The encoding; null for a body that passes as it comes. */
  #encoding: StreamEncoding | null = null;
  /** The decompressor; null before the first byte. */
  #decompressor: Transform | null = null;
  #isPaused = false;
  #isFull = false;
  /** Whether everything was decompressed: what follows belongs to no stream. */
  #isDrained = false;
  /** Reports the end; null before the end of the provider's response. */
  #reportEnd: (() => void) | null = null;
  #isOver = false;

  /** @param begin begins the call with a listener */
  constructor(listener: UpstreamListener, begin: (listener: UpstreamListener) => UpstreamCall) {
    this.#listener = listener;
    this.#call = begin(this);
  }

  abort(): void {
    this.#isOver = true;
    this.#decompressor?.destroy();
    this.#call.abort();
  }

  pause(): void {
    this.#isPaused = true;
    this.#decompressor?.pause();
    this.#call.pause();
  }

  resume(): void {
    this.#isPaused = false;
    this.#decompressor?.resume();
    if (!this.#isFull) this.#call.resume();
  }

  onSent(): void {
    this.#listener.onSent();
  }

  onHeaders(status: number, headers: IncomingHttpHeaders): void {
    const isStream = status >= 200 && status < 300 && isEventStream(headers);
    this.#encoding = isStream ? (encodings.get(encodingOf(headers)) ?? null) : null;
    this.#listener.onHeaders(status, headers);
  }

  onData(chunk: Buffer): void {
    if (this.#encoding === null) this.#listener.onData(chunk);
    else if (chunk.length > 0 && !this.#isOver && !this.#isDrained) this.#decompress(this.#encoding, chunk);
  }

  onEnd(): void {
    this.#endWith(() => this.#listener.onEnd());
  }

  /** What has arrived before the connection broke still counts. */
  onError(error: Error): void {
    this.#endWith(() => this.#listener.onError(error));
  }

  #decompress(encoding: StreamEncoding, chunk: Buffer): void {
    this.#decompressor ??= this.#open(encoding, chunk);
    if (this.#decompressor.write(chunk)) return;
    this.#isFull = true;
    this.#call.pause();
  }

  #open(encoding: StreamEncoding, first: Buffer): Transform {
    const decompressor = encoding.open(first);
    decompressor.on('data', (piece: Buffer) => {
      if (!this.#isOver) this.#listener.onData(piece);
    });
    decompressor.on('drain', () => {
      this.#isFull = false;
      if (!this.#isPaused) this.#call.resume();
    });
    decompressor.once('end', () => this.#drained());
    decompressor.on('error', (error) => this.#broken(error));
    if (this.#isPaused) decompressor.pause();
    return decompressor;
  }

  #endWith(report: () => void): void {
    this.#reportEnd = report;
    if (this.#decompressor === null || this.#isDrained) this.#finish(report);
    else this.#decompressor.end();
  }

  #drained(): void {
    this.#isDrained = true;
    if (this.#reportEnd !== null) this.#finish(this.#reportEnd);
    else if (!this.#isPaused) this.#call.resume();
  }

  #broken(error: Error): void {
    this.#finish(() => {
      this.#call.abort();
      this.#listener.onError(new DecompressionError(error));
    });
  }

  #finish(report: () => void): void {
    if (this.#isOver) return;
    this.#isOver = true;
    report();
  }
}
