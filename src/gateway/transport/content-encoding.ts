import type { IncomingHttpHeaders } from 'node:http';
import { brotliDecompressSync, unzipSync, zstdDecompressSync } from 'node:zlib';

/** What some providers send though they are asked for `identity`. */
const decompressors = new Map<string, (body: Buffer, options: { readonly maxOutputLength: number }) => Buffer>([
  ['gzip', unzipSync],
  ['x-gzip', unzipSync],
  ['deflate', unzipSync],
  ['br', brotliDecompressSync],
  ['zstd', zstdDecompressSync],
]);

/** Whether an answer's bytes are those of its content: it was asked for without compression. */
export function isPlain(headers: IncomingHttpHeaders): boolean {
  const encoding = headers['content-encoding'];
  return encoding === undefined || encoding === '' || encoding.toLowerCase() === 'identity';
}

/**
 * The content of an answer that came whole.
 * @param maxBytes how large it may be once it is decompressed
 * @returns null where it cannot be had
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
