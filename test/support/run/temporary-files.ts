import { statfsSync } from 'node:fs';

const inMemory = '/dev/shm';
const neededBytes = 4 * 1024 ** 3;

// Linux's folder in memory: thousands of small stores are made and synced, which takes a disk a fifth of a run.
if (process.env.TMPDIR === undefined && hasRoom(inMemory)) process.env.TMPDIR = inMemory;

function hasRoom(folder: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize >= neededBytes;
  } catch {
    return false;
  }
}
