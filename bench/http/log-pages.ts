import { closeSync, openSync, readSync } from 'node:fs';

/** Where the index of a write-ahead log has the number of its pages (https://sqlite.org/walformat.html#the_wal_index_header). */
const pagesOffset = 16;
const everyMs = 2;

/**
 * Counts the pages that a process writes into the write-ahead log of a SQLite file while some work runs. A checkpoint begins
 * the log again: pages that are written between the last look and a checkpoint are not counted.
 * @param file the database, which is open elsewhere
 */
export async function countLogPages(file: string, work: () => Promise<unknown>): Promise<number> {
  const index = openSync(`${file}-shm`, 'r');
  const buffer = new Uint32Array(1);
  const look = () => {
    readSync(index, buffer, 0, 4, pagesOffset);
    return buffer[0] ?? 0;
  };
  let last = look();
  let pages = 0;
  const timer = setInterval(() => {
    const now = look();
    pages += now >= last ? now - last : now;
    last = now;
  }, everyMs);
  try {
    await work();
  } finally {
    clearInterval(timer);
    closeSync(index);
  }
  return pages;
}
