import { createReadStream, existsSync } from 'node:fs';
import { open, readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { chance } from '#shared/chance.ts';
import { clock } from '#shared/clock.ts';
import { makeFolder } from '#shared/files/make-folder.ts';
import { nameFile } from '#shared/files/name-file.ts';

/** Files that are there completely or not at all, and are never replaced. */
export interface DigestFiles {
  /** The path for messages. */
  readonly path: string;
  /** The names of the files; none if the folder does not exist. */
  names(): Promise<ReadonlyArray<string>>;
  has(name: string): boolean;
  readText(name: string): Promise<string>;
  open(name: string): Readable;
  /** Adds a file durably. @returns false if one with this name exists, which stays as it is */
  add(name: string, content: string | Readable): Promise<boolean>;
  remove(name: string): Promise<void>;
}

const partEnding = '.part';
const abandonedAfterMs = 60 * 60 * 1000;

/** Files in a folder of this machine. Unfinished ones have names of their own, so that two writers never share one. */
export class DigestFilesInFolder implements DigestFiles {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  async names(): Promise<ReadonlyArray<string>> {
    return existsSync(this.path) ? await readdir(this.path) : [];
  }

  has(name: string): boolean {
    return existsSync(this.#fileOf(name));
  }

  readText(name: string): Promise<string> {
    return readFile(this.#fileOf(name), 'utf8');
  }

  open(name: string): Readable {
    return createReadStream(this.#fileOf(name));
  }

  async add(name: string, content: string | Readable): Promise<boolean> {
    makeFolder(this.path);
    await this.#removeAbandoned();
    const part = this.#fileOf(`${name}.${chance.randomUuid()}${partEnding}`);
    await writeDurably(part, content);
    const isAdded = await nameFile(part, this.#fileOf(name));
    await this.#sync();
    return isAdded;
  }

  async remove(name: string): Promise<void> {
    await rm(this.#fileOf(name), { force: true });
    await this.#sync();
  }

  /** Removes unfinished files, whose writers' processes have ended. */
  async #removeAbandoned(): Promise<void> {
    for (const name of await this.names()) {
      if (!name.endsWith(partEnding)) continue;
      const file = this.#fileOf(name);
      const found = await stat(file).catch(() => null);
      if (found !== null && clock.time() - found.mtimeMs > abandonedAfterMs) await rm(file, { force: true });
    }
  }

  async #sync(): Promise<void> {
    const folder = await open(this.path);
    await folder.sync().finally(() => folder.close());
  }

  #fileOf(name: string): string {
    return join(this.path, name);
  }
}

/** Only the owner may read the file. */
async function writeDurably(file: string, content: string | Readable): Promise<void> {
  try {
    const handle = await open(file, 'wx', 0o600);
    try {
      await handle.writeFile(content);
      await handle.sync();
    } finally {
      await handle.close();
    }
  } catch (error) {
    await rm(file, { force: true });
    throw error;
  }
}
