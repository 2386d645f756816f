import { type FileHandle, open, opendir, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { chance } from '#shared/chance.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { makeFolder } from '#shared/files/make-folder.ts';
import { nameFile } from '#shared/files/name-file.ts';
import {
  assertBlobId,
  type BlobStore,
  BlobTooLargeError,
  type ByteRange,
  type ListedBlob,
  type PutOptions,
} from './blob-store.ts';

/** Bytes that are read from a file at a time, and held by an unread download. */
const readBytes = 64 * 1024;

/** The system's error codes for a disk that is full, missing or not accessible. */
const passingCodes = new Set(['ENOSPC', 'EDQUOT', 'EIO', 'EROFS', 'EACCES', 'EPERM', 'EMFILE', 'ENFILE']);

/**
 * Opens a blob store in a folder, with one file for each blob, and removes unfinished files.
 * @param folder is created if it does not exist; only one process may use it
 * @throws UnavailableError
 */
export async function openFolderBlobStore(folder: string): Promise<BlobStore> {
  return guarded(async () => {
    const unfinished = join(folder, 'unfinished');
    makeFolder(unfinished);
    makeFolder(join(folder, 'files'));
    for (const name of await readdir(unfinished)) await rm(join(unfinished, name), { force: true });
    return new FolderBlobStore(folder);
  });
}

/**
 * Opens the blob store of a folder that a service may be using. Unfinished files stay.
 * @throws UnavailableError if there is none
 */
export async function openFolderBlobStoreBeside(folder: string): Promise<BlobStore> {
  return guarded(async () => {
    if ((await orNull(stat(join(folder, 'files')))) === null) {
      throw new UnavailableError(`There is no blob store in ${folder}.`);
    }
    return new FolderBlobStore(folder);
  });
}

class FolderBlobStore implements BlobStore {
  readonly #folder: string;
  #closed = false;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async put(
    id: string,
    content: AsyncIterable<Uint8Array>,
    maxBytes: number,
    { keep }: PutOptions = {},
  ): Promise<number> {
    const file = this.#fileOf(id);
    const unfinished = join(this.#folder, 'unfinished', chance.randomUuid());
    return guarded(async () => {
      try {
        const bytes = await writeDurably(unfinished, content, maxBytes);
        if (keep === 'existing') await nameFile(unfinished, file);
        else await rename(unfinished, file);
        await syncFolder(join(this.#folder, 'files'));
        return bytes;
      } catch (error) {
        await rm(unfinished, { force: true });
        throw error;
      }
    });
  }

  async get(id: string, range?: ByteRange): Promise<Readable | null> {
    const file = this.#fileOf(id);
    const handle = await guarded(() => orNull(open(file)));
    if (handle === null) return null;
    // Nothing is read ahead of the consumer.
    const stream = Readable.from(chunksOf(handle, range), { objectMode: false, highWaterMark: 0 });
    return stream.once('close', () => void handle.close().catch(() => undefined));
  }

  async size(id: string): Promise<number | null> {
    const file = this.#fileOf(id);
    return guarded(async () => (await orNull(stat(file)))?.size ?? null);
  }

  async delete(id: string): Promise<void> {
    const file = this.#fileOf(id);
    await guarded(async () => {
      await rm(file, { force: true });
      await syncFolder(join(this.#folder, 'files'));
    });
  }

  async *list(prefix: string): AsyncIterable<ListedBlob> {
    if (this.#closed) throw closed();
    const files = join(this.#folder, 'files');
    const entries = await guarded(() => opendir(files));
    for await (const { name } of guardedChunks(entries)) {
      if (!name.startsWith(prefix)) continue;
      const found = await guarded(() => orNull(stat(join(files, name))));
      if (found !== null) yield { id: name, bytes: found.size, storedAt: found.mtime };
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
  }

  #fileOf(id: string): string {
    assertBlobId(id);
    if (this.#closed) throw closed();
    return join(this.#folder, 'files', id);
  }
}

async function writeDurably(file: string, content: AsyncIterable<Uint8Array>, maxBytes: number): Promise<number> {
  const handle = await open(file, 'wx', 0o600);
  try {
    let bytes = 0;
    for await (const chunk of content) {
      bytes += chunk.byteLength;
      if (bytes > maxBytes) throw new BlobTooLargeError(maxBytes);
      await writeWhole(handle, chunk);
    }
    await handle.sync();
    return bytes;
  } finally {
    await handle.close();
  }
}

async function writeWhole(handle: FileHandle, chunk: Uint8Array): Promise<void> {
  for (let written = 0; written < chunk.byteLength; ) {
    written += (await handle.write(chunk, written)).bytesWritten;
  }
}

/** A file's name is durable only after a sync of its folder. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

const closed = () => new UnavailableError('The blob store is closed.');

async function* chunksOf(handle: FileHandle, range: ByteRange | undefined): AsyncGenerator<Buffer, void, void> {
  const end = range?.end ?? Number.POSITIVE_INFINITY;
  for (let start = range?.start ?? 0; start < end; ) {
    const chunk = Buffer.allocUnsafeSlow(Math.min(readBytes, end - start));
    const { bytesRead } = await guarded(() => handle.read(chunk, 0, chunk.length, start));
    if (bytesRead === 0) return;
    yield chunk.subarray(0, bytesRead);
    start += bytesRead;
  }
}

async function* guardedChunks<Item>(stream: AsyncIterable<Item>): AsyncIterable<Item> {
  try {
    yield* stream;
  } catch (error) {
    throw named(error);
  }
}

async function orNull<Result>(asked: Promise<Result>): Promise<Result | null> {
  try {
    return await asked;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
}

async function guarded<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw named(error);
  }
}

function named(error: unknown): unknown {
  const code = codeOf(error);
  return code !== null && passingCodes.has(code)
    ? new UnavailableError(`The blob store cannot be used: ${code}.`)
    : error;
}

function codeOf(error: unknown): string | null {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null;
}
