import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { brotliDecompressSync, unzipSync, zstdDecompressSync } from 'node:zlib';

/** A body that is too large for memory. It can be read again for each attempt. */
export interface StoredBody {
  readonly bytes: number;
  readonly open: () => Readable;
}

export interface UpstreamRequest {
  /** The method. Default POST. */
  readonly method?: 'GET' | 'DELETE';
  /** The path with the query. */
  readonly path: string;
  /** The headers as alternating names and values, without length and host. */
  readonly headers: ReadonlyArray<string>;
  readonly body: Buffer | StoredBody;
  /** True if the answer takes long. Such calls have separate connections. */
  readonly streams: boolean;
}

/** Gets the events of a call. None follows `onEnd`, `onError` or an abort. */
export interface UpstreamListener {
  /** Called when the request is sent on a connection, and again for each further piece of a stored body. */
  readonly onSent: () => void;
  /** Called with the headers. The data of a compressed event stream come decompressed; its headers stay. */
  readonly onHeaders: (status: number, headers: IncomingHttpHeaders) => void;
  readonly onData: (chunk: Buffer) => void;
  readonly onEnd: () => void;
  /** Called when the call failed below HTTP. */
  readonly onError: (error: Error) => void;
}

export interface UpstreamCall {
  /** Ends the call immediately, in any phase. Closes the connection. */
  readonly abort: () => void;
  /** Stops the data until `resume`. */
  readonly pause: () => void;
  readonly resume: () => void;
}

export interface Transport {
  readonly call: (request: UpstreamRequest, listener: UpstreamListener) => UpstreamCall;
  /** Refuses further calls, and waits for the running ones first. */
  readonly close: () => Promise<void>;
}

/** Some providers use these encodings although the request asks for `identity`. */
const decompressors = new Map<string, (body: Buffer, options: { readonly maxOutputLength: number }) => Buffer>([
  ['gzip', unzipSync],
  ['x-gzip', unzipSync],
  ['deflate', unzipSync],
  ['br', brotliDecompressSync],
  ['zstd', zstdDecompressSync],
]);

/** The encoding in lower case; empty without compression, as the request asks. */
export function encodingOf(headers: IncomingHttpHeaders): string {
  const encoding = (headers['content-encoding'] ?? '').trim().toLowerCase();
  return encoding === 'identity' ? '' : encoding;
}

export function isPlain(headers: IncomingHttpHeaders): boolean {
  return encodingOf(headers) === '';
}

export function isEventStream(headers: IncomingHttpHeaders): boolean {
  return /^text\/event-stream\b/i.test(headers['content-type'] ?? '');
}

/**
 * The content of a complete answer. @param maxBytes after decompression @returns null if the body cannot be
 * decompressed
 */
export function contentOf(headers: IncomingHttpHeaders, body: Buffer, maxBytes: number): Buffer | null {
  if (isPlain(headers)) return body;
  const decompress = decompressors.get(encodingOf(headers));
  try {
    return decompress?.(body, { maxOutputLength: maxBytes }) ?? null;
  } catch {
    return null;
  }
}

/** A provider's support asks for the provider's own id of a request. */
const responseHeader = 'X-Switchyard-Provider-Request-Id';

/** Any other text is not an id, or cannot be a header's value. */
const id = /^[\x21-\x7e]{1,200}$/;

export function providerRequestIdIn(headers: IncomingHttpHeaders): string | null {
  // OpenAI and most others use the first name, ElevenLabs the second.
  const value = headers['x-request-id'] ?? headers['request-id'];
  return typeof value === 'string' && id.test(value) ? value : null;
}

/** The header's name and value; empty without an id. */
export function providerRequestIdField(requestId: string | null): ReadonlyArray<string> {
  return requestId === null ? [] : [responseHeader, requestId];
}
