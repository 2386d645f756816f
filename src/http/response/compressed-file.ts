import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

/** A file, uncompressed and in the two compressed forms that browsers accept. */
export interface CompressedFile {
  readonly type: string;
  readonly plain: Uint8Array;
  readonly gzip: Uint8Array;
  readonly brotli: Uint8Array;
  /** The hash of the uncompressed file. */
  readonly hash: string;
}

const brotliAsync = promisify(brotliCompress);
const gzipAsync = promisify(gzip);

/** Beyond it brotli takes several times as long for a few percent. */
const brotliQuality = 6;

/** Compresses outside the thread that calls it. */
export async function compressFile(type: string, plain: Uint8Array): Promise<CompressedFile> {
  const params = { [constants.BROTLI_PARAM_QUALITY]: brotliQuality, [constants.BROTLI_PARAM_SIZE_HINT]: plain.length };
  const [brotli, zipped] = await Promise.all([brotliAsync(plain, { params }), gzipAsync(plain, { level: 9 })]);
  const hash = createHash('sha256').update(plain).digest('base64url').slice(0, 22);
  return { type, plain, gzip: zipped, brotli, hash };
}
