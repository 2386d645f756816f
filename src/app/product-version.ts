import { readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import packageJson from '../../package.json' with { type: 'json' };

const root = resolve(import.meta.dirname, '../..');
const commitForm = /^[0-9a-f]{40}$/;
const shownCharacters = 7;

/**
 * The version with its commit: `0.5.0+a58340c`. The commit is that of the checkout, or the one in the file `commit`,
 * which the build of the image writes; without both it is left out.
 * @param folder with `.git` or `commit`
 */
export function readProductVersion(folder: string = root): string {
  const commit = commitOfCheckout(join(folder, '.git')) ?? commitIn(join(folder, 'commit'));
  return commit === null ? packageJson.version : `${packageJson.version}+${commit.slice(0, shownCharacters)}`;
}

function commitOfCheckout(git: string): string | null {
  const directory = gitDirectory(git);
  if (directory === null) return null;
  const head = textOf(join(directory, 'HEAD')) ?? '';
  const [, name] = /^ref: (refs\/\S+)$/.exec(head) ?? [];
  if (name === undefined) return commitForm.test(head) ? head : null;
  // A worktree has its references in the directory that `commondir` names.
  const common = textOf(join(directory, 'commondir'));
  const shared = common === null ? directory : resolve(directory, common);
  return commitIn(join(shared, name)) ?? packedCommit(shared, name);
}

/** Follows the file `.git` of a worktree (https://git-scm.com/docs/gitrepository-layout). */
function gitDirectory(git: string): string | null {
  const found = statSync(git, { throwIfNoEntry: false });
  if (found === undefined) return null;
  if (found.isDirectory()) return git;
  const [, path] = /^gitdir: (.+)$/.exec(textOf(git) ?? '') ?? [];
  return path === undefined ? null : resolve(git, '..', path);
}

function packedCommit(directory: string, name: string): string | null {
  const lines = (textOf(join(directory, 'packed-refs')) ?? '').split('\n');
  const [commit = ''] = lines.find((line) => line.endsWith(` ${name}`))?.split(' ') ?? [];
  return commitForm.test(commit) ? commit : null;
}

function commitIn(file: string): string | null {
  const text = textOf(file) ?? '';
  return commitForm.test(text) ? text : null;
}

/** The file's text without the line break at its end; null if it cannot be read. */
function textOf(file: string): string | null {
  try {
    return readFileSync(file, 'utf8').trimEnd();
  } catch {
    return null;
  }
}
