import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { brotliDecompressSync, unzipSync, zstdDecompressSync } from 'node:zlib';

/** A body that is too large for memory. It can be read again for each attempt. */
export interface StoredBody {
  readonly bytes: number;
  readonly open: () => Readable;
}

/** A call to a provider. */
export interface UpstreamRequest {
  /** Default POST. */
  readonly method?: 'GET' | 'DELETE';
  /** The path with its query. */
  readonly path: string;
  /** Names and values in turn; without length and host. */
  readonly headers: ReadonlyArray<string>;
  readonly body: Buffer | StoredBody;
  /** Whether the answer takes long. Such calls have separate connections. */
  readonly streams: boolean;
}

/** Receives the events of a call. No event follows `onEnd`, `onError` or an abort. */
export interface UpstreamListener {
  /** The request is sent on a connection. Called again for each further piece of a stored body. */
  readonly onSent: () => void;
  /** The data of a compressed event stream come decompressed; its headers stay. */
  readonly onHeaders: (status: number, headers: IncomingHttpHeaders) => void;
  readonly onData: (chunk: Buffer) => void;
  readonly onEnd: () => void;
  /** The call failed below HTTP. */
  readonly onError: (error: Error) => void;
}

/** A running call. */
export interface UpstreamCall {
  /** Ends it at once in any phase, and closes its connection. */
  readonly abort: () => void;
  /** Stops the data until `resume`. */
  readonly pause: () => void;
  readonly resume: () => void;
}

/** Sends calls to a provider. */
export interface Transport {
  readonly call: (request: UpstreamRequest, listener: UpstreamListener) => UpstreamCall;
  /** Refuses further calls, waits for the running ones, and closes its connections. */
  readonly close: () => Promise<void>;
}

/** The encodings that some providers send although the request asks for `identity`. */
const decompressors = new Map<string, (body: Buffer, options: { readonly maxOutputLength: number }) => Buffer>([
  ['gzip', unzipSync],
  ['x-gzip', unzipSync],
  ['deflate', unzipSync],
  ['br', brotliDecompressSync],
  ['zstd', zstdDecompressSync],
]);

/** How the bytes of an answer are compressed, in lower case; empty if they are not, as the request asks. */
export function encodingOf(headers: IncomingHttpHeaders): string {
  const encoding = (headers['content-encoding'] ?? '').trim().toLowerCase();
  return encoding === 'identity' ? '' : encoding;
}

/** Whether an answer is not compressed. */
export function isPlain(headers: IncomingHttpHeaders): boolean {
  return encodingOf(headers) === '';
}

/** Whether an answer is a stream of server-sent events. */
export function isEventStream(headers: IncomingHttpHeaders): boolean {
  return /^text\/event-stream\b/i.test(headers['content-type'] ?? '');
}

/**
 * Returns the content of a complete answer.
 * @param maxBytes the most bytes after decompression
 * @returns null if the body cannot be decompressed
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

/** The header with the provider's own id of a request, which a provider's support asks for. */
const responseHeader = 'X-Switchyard-Provider-Request-Id';

/** The form of a provider's id. Any other text is not an id, or cannot be a header's value. */
const id = /^[\x21-\x7e]{1,200}$/;

/** Returns the provider's id of a request from the headers of its answer; null without one. */
export function providerRequestIdIn(headers: IncomingHttpHeaders): string | null {
  // OpenAI and most others use the first name, ElevenLabs the second.
  const value = headers['x-request-id'] ?? headers['request-id'];
  return typeof value === 'string' && id.test(value) ? value : null;
}

/** Returns the header with the id, as name and value; empty without an id. */
export function providerRequestIdField(requestId: string | null): ReadonlyArray<string> {
  return requestId === null ? [] : [responseHeader, requestId];
}
