import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import type { Readable } from 'node:stream';

/** Only the owner may read a file that is made here. */
const mode = 0o600;

/**
 * Writes a file that is there complete and durably, or as it was before, whenever the process ends.
 * @throws Error of the file system
 */
export async function replaceFile(file: string, content: string | Readable): Promise<void> {
  const part = `${file}.part`;
  const handle = await open(part, 'w', mode);
  try {
    await handle.writeFile(content);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(part, file);
}

/** `replaceFile` for a start that must not continue before. A failure leaves nothing behind. */
export function replaceFileSync(file: string, content: string): void {
  const part = `${file}.new`;
  try {
    writeAndSync(part, content);
    renameSync(part, file);
  } catch (error) {
    rmSync(part, { force: true });
    throw error;
  }
}

function writeAndSync(file: string, content: string): void {
  const descriptor = openSync(file, 'w', mode);
  try {
    writeFileSync(descriptor, content);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
