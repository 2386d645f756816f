import { type FileHandle, open } from 'node:fs/promises';

/** A file that syncs what is written to it: what is written while a sync runs shares the next one, as in a server. */
export class SyncedFile {
  readonly #file: FileHandle;
  #waiting: Uint8Array[] = [];
  #next: Promise<void> | null = null;
  #last: Promise<void> = Promise.resolve();

  private constructor(file: FileHandle) {
    this.#file = file;
  }

  /** Creates the file. */
  static async create(path: string): Promise<SyncedFile> {
    return new SyncedFile(await open(path, 'ax'));
  }

  /** Resolves when the bytes are on the disk. */
  write(bytes: ReadonlyArray<Uint8Array>): Promise<void> {
    this.#waiting.push(...bytes);
    this.#next ??= this.#syncAfter(this.#last);
    this.#last = this.#next;
    return this.#next;
  }

  async close(): Promise<void> {
    await this.#last;
    await this.#file.close();
  }

  async #syncAfter(last: Promise<void>): Promise<void> {
    await last;
    const bytes = this.#waiting;
    this.#waiting = [];
    this.#next = null;
    await this.#file.writev(bytes);
    await this.#file.datasync();
  }
}
