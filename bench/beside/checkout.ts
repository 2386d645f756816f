import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { print } from '#bench/measure.ts';

/** A version of the service in a folder of its own, with its own packages. */
export interface Checkout {
  /** `here`, or the short name of its commit. */
  readonly name: string;
  readonly folder: string;
}

/** The version of this benchmark. */
export const here: Checkout = { name: 'here', folder: join(import.meta.dirname, '../..') };

/** Checkouts stay here for later runs. Each can be removed at any time. */
const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'switchyard', 'bench');

/** The characters of a commit's short name. */
const shortLength = 12;

/**
 * Returns a checkout of a commit: a git worktree outside the repository, with what `npm ci` installs there. Both are made
 * once for each commit.
 * @param commit any name of it that git knows
 * @throws Error if git does not know the commit, or its packages cannot be installed
 */
export function checkoutOf(commit: string): Checkout {
  const id = git('rev-parse', '--verify', `${commit}^{commit}`).trim();
  const name = id.slice(0, shortLength);
  const folder = join(cache, name);
  // npm writes this file when everything is installed.
  if (existsSync(join(folder, 'node_modules/.package-lock.json'))) return { name, folder };
  print(`Making a checkout of ${name} in ${folder}, once.`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(dirname(folder), { recursive: true });
  // With --force, because git may still list a folder that was removed.
  git('worktree', 'add', '--detach', '--force', folder, id);
  execFileSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
  return { name, folder };
}

function git(...args: ReadonlyArray<string>): string {
  return execFileSync('git', args, { cwd: here.folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
}
