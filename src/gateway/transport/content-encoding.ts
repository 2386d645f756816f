import type { IncomingHttpHeaders } from 'node:http';
import { brotliDecompressSync, unzipSync, zstdDecompressSync } from 'node:zlib';

/** The encodings that some providers send although the request asks for `identity`. */
const decompressors = new Map<string, (body: Buffer, options: { readonly maxOutputLength: number }) => Buffer>([
  ['gzip', unzipSync],
  ['x-gzip', unzipSync],
  ['deflate', unzipSync],
  ['br', brotliDecompressSync],
  ['zstd', zstdDecompressSync],
]);

/** Whether an answer is not compressed, as the request asks. */
export function isPlain(headers: IncomingHttpHeaders): boolean {
  const encoding = headers['content-encoding'];
  return encoding === undefined || encoding === '' || encoding.toLowerCase() === 'identity';
}

/**
 * Returns the content of a complete answer.
 * @param maxBytes the most bytes after decompression
 * @returns null if the body cannot be decompressed
 */
export function contentOf(headers: IncomingHttpHeaders, body: Buffer, maxBytes: number): Buffer | null {
  if (isPlain(headers)) return body;
  const decompress = decompressors.get((headers['content-encoding'] ?? '').trim().toLowerCase());
  try {
    return decompress?.(body, { maxOutputLength: maxBytes }) ?? null;
  } catch {
    return null;
  }
}
