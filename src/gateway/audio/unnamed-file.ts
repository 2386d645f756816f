import { randomUUID } from 'node:crypto';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { join } from 'node:path';

/** Makes a file in a folder for reading and writing. */
export type MakeFile = (folder: string) => Promise<FileHandle>;

/** Makes a file and unlinks it as soon as it is open, so that it disappears even if the process crashes. */
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
