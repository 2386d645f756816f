import { randomUUID } from 'node:crypto';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { diskFull } from '#application/operations/unexpected-error.ts';
import type { Failure } from '#domain/shared/failure.ts';
import type { ByteBudget, ByteReservation } from '#exchange/byte-budget.ts';
import type { FreeSpace } from '#shared/files/free-space.ts';
import { Spool, spoolShortageFailure } from './spool.ts';

interface SpoolFolderOptions {
  /** The folder for the files of spools; it exists. */
  readonly folder: string;
  readonly budget: ByteBudget;
  readonly freeSpace: FreeSpace;
  /** Makes a file. Default: in the file system. */
  readonly makeFile?: MakeFile;
}

export class SpoolFolder {
  readonly #options: SpoolFolderOptions;

  constructor(options: SpoolFolderOptions) {
    this.#options = options;
  }

  /**
   * The caller must close the spool.
   * @param projectId sends the upload
   * @param memory counts the bytes that the spool keeps in memory
   */
  open(projectId: string, memory: ByteReservation): Spool {
    const { folder, budget, makeFile = makeUnnamedFile } = this.#options;
    const disk = budget.hold(projectId);
    return new Spool({
      makeFile: () => makeFile(folder),
      memory,
      disk,
      shortageOf: (bytes) => this.#shortageOf(disk, bytes),
    });
  }

  /** The shortage; null if the file can take the bytes. */
  async #shortageOf(disk: ByteReservation, bytes: number): Promise<Failure | null> {
    const shortage = disk.shortageOf(bytes);
    if (shortage !== null) return spoolShortageFailure(shortage);
    const { folder, freeSpace } = this.#options;
    return (await freeSpace.hasRoomFor(folder, bytes)) ? null : diskFull;
  }
}

export type MakeFile = (folder: string) => Promise<FileHandle>;

/** Unlinks the file as soon as it is open, so that it disappears even if the process crashes. */
export const makeUnnamedFile: MakeFile = async (folder) => {
  const path = join(folder, `switchyard-upload-${randomUUID()}`);
  const file = await open(path, 'wx+', 0o600);
  try {
    await unlink(path);
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
};
