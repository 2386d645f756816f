import { createReadStream, existsSync } from 'node:fs';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { LogError } from '#event-store/transfer/log-failure.ts';
import type { LineSink } from './export-log.ts';
import { isWhole, linesOf } from './lines.ts';
import { isFirstLine, isLastLine } from './log-file.ts';

/** A file that is named `{file}.part` until it is complete. Only its owner may read it. */
export class PartFile implements LineSink {
  readonly #file: string;
  readonly #handle: FileHandle;
  readonly #lines: AsyncGenerator<Buffer, void, void>;
  #begun = false;
  #toTheEnd = false;
  /** The size of the lines that are part of the export. */
  #wholeBytes = 0;

  /**
   * @param resume continues an interrupted export, if there is one
   * @throws LogError if the file exists, if a part of it exists and `resume` is false, or if that is not a part of an
   * export
   */
  static async open(file: string, resume: boolean): Promise<PartFile> {
    const part = partOf(file);
    if (existsSync(file)) throw new LogError(`${file} is there already: remove it, or name another file.`);
    if (!resume && existsSync(part))
      throw new LogError(`${part} is there, of an export that was cut off: add --resume to continue it, or remove it.`);
    const opened = new PartFile(file, await open(part, 'a', 0o600));
    try {
      await opened.#begin();
      return opened;
    } catch (error) {
      await opened.close();
      throw error;
    }
  }

  private constructor(file: string, handle: FileHandle) {
    this.#file = file;
    this.#handle = handle;
    this.#lines = eachLine(partOf(file));
  }

  get begun(): boolean {
    return this.#begun;
  }

  async held(): Promise<Buffer | null> {
    if (this.#toTheEnd) return null;
    const { value: line } = await this.#lines.next();
    if (line !== undefined && isWhole(line) && !isLastLine(line)) {
      this.#wholeBytes += line.length;
      return line;
    }
    // The rest is half a line, or the last line of a log that has grown since.
    this.#toTheEnd = true;
    await this.#lines.return();
    await this.#handle.truncate(this.#wholeBytes);
    return null;
  }

  async write(lines: string): Promise<void> {
    await this.#handle.appendFile(lines);
  }

  /** Syncs the file to the disk, and gives it its final name. */
  async finish(): Promise<void> {
    await this.#handle.sync();
    await this.#handle.close();
    await rename(partOf(this.#file), this.#file);
    const folder = await open(dirname(this.#file), 'r');
    await folder.sync().finally(() => folder.close());
  }

  /** Removes the part, because it cannot be continued. */
  async discard(): Promise<void> {
    await this.close();
    await rm(partOf(this.#file));
  }

  /** Closes the file and leaves the part incomplete. */
  async close(): Promise<void> {
    await this.#lines.return();
    await this.#handle.close();
  }

  async #begin(): Promise<void> {
    const first = await this.held();
    if (first === null) return;
    if (!isFirstLine(first)) throw new LogError(`${partOf(this.#file)} is not a part of an export: move it away.`);
    this.#begun = true;
  }
}

function partOf(file: string): string {
  return `${file}.part`;
}

async function* eachLine(path: string): AsyncGenerator<Buffer, void, void> {
  for await (const lines of linesOf(createReadStream(path))) yield* lines;
}
