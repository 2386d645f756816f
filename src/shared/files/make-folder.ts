import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Creates a folder and missing folders above it, readable only for their owner. Node's own `recursive` never returns
 * for a path like `/proc/x`, whose file system always reports a missing parent.
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
    // Another process may have created the folder meanwhile. Anything else with this name is not a folder.
    if (!statSync(path).isDirectory()) throw error;
  }
}
