import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Makes a folder and those above it, for their owner alone, where they are not there yet. Node's own `recursive` never
 * returns under a path like `/proc/x`, whose system says that the parent is missing however often it is made.
 * @throws Error of the file system
 */
export function makeFolder(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return;
  const parent = dirname(path);
  if (parent !== path) makeFolder(parent);
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    // Another process may have made the folder meanwhile; anything else that has this name is not one.
    if (!statSync(path).isDirectory()) throw error;
  }
}
