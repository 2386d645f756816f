import { parentPort } from 'node:worker_threads';
import { type CompressedFile, compressFile } from '#http/response/compressed-file.ts';
import { readPageFiles } from './page-files.ts';

export interface NamedFile extends CompressedFile {
  readonly name: string;
}

/** What the thread sends to the main thread. */
export interface CompressedPage {
  readonly hash: string;
  readonly files: ReadonlyArray<NamedFile>;
}

const { hash, files } = await readPageFiles();
const compressed = files.map(async ({ name, type, text }) => ({
  name,
  ...(await compressFile(type, Buffer.from(text))),
}));
const page: CompressedPage = { hash, files: await Promise.all(compressed) };
parentPort?.postMessage(page);
