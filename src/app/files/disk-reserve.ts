import { randomBytes } from 'node:crypto';
import { existsSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDiskFull } from '#application/operations/disk-full.ts';

/** Enough for what SQLite makes beside its files before the first read. */
const reserveBytes = 1024 * 1024;
const reserveFile = 'reserve';

/**
 * Keeps a file in a folder whose only use is its room: where the disk is full at a start, the file is removed, so that
 * the embedded stores can be opened and reads be answered. It is made again at a start that finds room.
 * @param freeBytesOf asks for the free space of the folder's volume. Default asks the system
 */
export function keepDiskReserve(folder: string, freeBytesOf: (folder: string) => number = systemFreeBytesOf): void {
  const file = join(folder, reserveFile);
  if (freeBytesOf(folder) < reserveBytes) rmSync(file, { force: true });
  else if (!existsSync(file)) makeReserve(file);
}

function makeReserve(file: string): void {
  try {
    // Zeros would take no room on a volume that compresses.
    writeFileSync(file, randomBytes(reserveBytes), { mode: 0o600 });
  } catch (error) {
    rmSync(file, { force: true });
    if (!isDiskFull(error)) throw error;
  }
}

function systemFreeBytesOf(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}
