import { execFileSync } from 'node:child_process';
import { readFileSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type TemporaryFolder, temporaryFolder } from './service-process.ts';

const root = resolve(import.meta.dirname, '../../..');
/** Maximum bytes of a commit's files. */
const maxArchiveBytes = 512 * 1024 * 1024;

/** The files of another release, with its dependencies. */
export interface ReleaseCheckout {
  /** The file that starts the service. */
  readonly main: string;
  readonly remove: () => void;
}

/**
 * Puts the files of a commit into a temporary folder. It uses the dependencies of this checkout if both have the same,
 * and installs them otherwise.
 * @throws Error if the repository lacks the commit, as a shallow clone does, or if the installation fails
 */
export function checkOutRelease(commit: string): ReleaseCheckout {
  const folder = temporaryFolder();
  try {
    const archive = execFileSync('git', ['archive', '--format=tar', commit], {
      cwd: root,
      maxBuffer: maxArchiveBytes,
    });
    execFileSync('tar', ['-x', '-C', folder.path], { input: archive });
    provideDependencies(folder);
  } catch (error) {
    folder.remove();
    throw error;
  }
  return { main: join(folder.path, 'src/main.ts'), remove: folder.remove };
}

function provideDependencies({ path }: TemporaryFolder): void {
  if (dependenciesOf(path) === dependenciesOf(root))
    symlinkSync(join(root, 'node_modules'), join(path, 'node_modules'));
  else execFileSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: path });
}

/** The packages that a checkout needs. What it says of itself has its version. */
function dependenciesOf(folder: string): string {
  const { packages } = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8'));
  return JSON.stringify({ ...packages, '': null });
}
