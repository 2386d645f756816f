import { close, fdatasync, open, write } from 'node:fs';
import { promisify } from 'node:util';

const openFile = promisify(open);
const closeFile = promisify(close);
const syncFile = promisify(fdatasync);
const writeFile = promisify(write) as (file: number, text: string) => Promise<unknown>;

/**
 * The simplest durable append: lines at the end of a file. Waiting lines are written and synced together.
 * Without streams, revisions and reads.
 */
export class PlainFile {
  readonly #file: number;
  #waiting: Array<{ readonly line: string; readonly done: () => void; readonly failed: (error: unknown) => void }> = [];
  #writing = false;

  private constructor(file: number) {
    this.#file = file;
  }

  static async open(path: string): Promise<PlainFile> {
    return new PlainFile(await openFile(path, 'a'));
  }

  /** Resolves when the line is on the disk. */
  append(line: string): Promise<void> {
    return new Promise((done, failed) => {
      this.#waiting.push({ line, done, failed });
      if (!this.#writing) void this.#writeAll();
    });
  }

  close(): Promise<void> {
    return closeFile(this.#file);
  }

  async #writeAll(): Promise<void> {
    this.#writing = true;
    await new Promise(setImmediate);
    while (this.#waiting.length > 0) {
      const batch = this.#waiting;
      this.#waiting = [];
      try {
        await writeFile(this.#file, batch.map(({ line }) => line).join(''));
        await syncFile(this.#file);
        for (const { done } of batch) done();
      } catch (error) {
        for (const { failed } of batch) failed(error);
      }
      await new Promise(setImmediate);
    }
    this.#writing = false;
  }
}
