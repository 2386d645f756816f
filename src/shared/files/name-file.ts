import { existsSync } from 'node:fs';
import { link, rename, rm } from 'node:fs/promises';

/** The codes of file systems without hard links, for example of a mounted bucket. */
const withoutLinks = new Set(['EPERM', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP']);

/**
 * Gives a complete file its final name, and removes the name that it had. A file that has the final name already is not
 * replaced. Without hard links one that gets the name at the same moment may be: a copy would replace none, but a crash
 * would leave half of it.
 * @returns false if the final name was taken
 * @throws Error of the file system
 */
export async function nameFile(part: string, file: string): Promise<boolean> {
  try {
    await link(part, file);
  } catch (error) {
    const code = String((error as NodeJS.ErrnoException).code);
    if (withoutLinks.has(code) && !existsSync(file)) {
      await rename(part, file);
      return true;
    }
    if (code !== 'EEXIST' && !withoutLinks.has(code)) throw error;
    await rm(part, { force: true });
    return false;
  }
  await rm(part, { force: true });
  return true;
}
