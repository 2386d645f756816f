import { promisify } from 'node:util';
import { parentPort } from 'node:worker_threads';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { type PageFile, readPageFiles } from './page-files.ts';

/** A file to send: uncompressed, and in the two compressed forms that browsers accept. */
export interface CompressedFile {
  readonly name: string;
  readonly type: string;
  readonly plain: Uint8Array;
  readonly gzip: Uint8Array;
  readonly brotli: Uint8Array;
}

/** The message that the thread sends to the main thread. */
export interface CompressedPage {
  readonly hash: string;
  readonly files: ReadonlyArray<CompressedFile>;
}

const brotliAsync = promisify(brotliCompress);
const gzipAsync = promisify(gzip);
const brotliQuality = 9;

async function compressed({ name, type, text }: PageFile): Promise<CompressedFile> {
  const plain = Buffer.from(text);
  const params = { [constants.BROTLI_PARAM_QUALITY]: brotliQuality, [constants.BROTLI_PARAM_SIZE_HINT]: plain.length };
  const [brotli, zipped] = await Promise.all([brotliAsync(plain, { params }), gzipAsync(plain, { level: 9 })]);
  return { name, type, plain, gzip: zipped, brotli };
}

const { hash, files } = await readPageFiles();
const page: CompressedPage = { hash, files: await Promise.all(files.map(compressed)) };
parentPort?.postMessage(page);
