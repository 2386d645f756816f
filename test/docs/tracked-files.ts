import { execFileSync } from 'node:child_process';
import { existsSync, globSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of the repository. */
export const root = fileURLToPath(new URL('../..', import.meta.url));

/** Returns the paths of all files of the repository, or of all files in the folder without a checkout of git. */
export function trackedFiles(): ReadonlyArray<string> {
  if (!existsSync(join(root, '.git'))) return filesInFolder();
  const listed = execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8', maxBuffer: 16 * 1024 * 1024 });
  return listed.split('\0').filter((file) => file !== '' && existsSync(join(root, file)));
}

function filesInFolder(): ReadonlyArray<string> {
  const source = '{src,commands,queries,projections,bench,examples,test,docs,deployment,.ci}/**/*.*';
  return globSync(['*.*', source], { cwd: root, exclude: ['**/node_modules/**'] });
}
