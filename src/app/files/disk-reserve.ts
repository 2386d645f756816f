import { randomBytes } from 'node:crypto';
import { existsSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDiskFull } from '#application/operations/unexpected-error.ts';

/** Enough for the files that SQLite creates before the first read. */
const reserveBytes = 1024 * 1024;
const reserveFile = 'reserve';

/**
 * Keeps a file in a folder that only reserves space. If the disk is full at a start, the file is removed, so that the
 * embedded stores can open and answer reads. A later start with enough space creates it again.
 * @param freeBytesOf returns the free space of the folder's volume; by default it asks the system
 */
export function keepDiskReserve(folder: string, freeBytesOf: (folder: string) => number = systemFreeBytesOf): void {
  const file = join(folder, reserveFile);
  if (freeBytesOf(folder) < reserveBytes) rmSync(file, { force: true });
  else if (!existsSync(file)) makeReserve(file);
}

function makeReserve(file: string): void {
  try {
    // Zeros would take no space on a volume with compression.
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
