import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readProductVersion } from '#app/product-version.ts';
import { type TemporaryFolder, temporaryFolder } from '#test/support/service/service-process.ts';
import packageJson from '../../package.json' with { type: 'json' };

const commit = 'a58340cb0e26a58340cb0e26a58340cb0e26a583';
const withCommit = `${packageJson.version}+a58340c`;

describe('the version of the product', () => {
  let folder: TemporaryFolder;
  const write = (path: string, text: string) => {
    const file = join(folder.path, path);
    mkdirSync(join(file, '..'), { recursive: true });
    writeFileSync(file, text);
  };
  const version = (path = '.') => readProductVersion(join(folder.path, path));

  beforeEach(() => {
    folder = temporaryFolder();
  });
  afterEach(() => folder.remove());

  it('has the commit of the branch that is checked out', () => {
    write('.git/HEAD', 'ref: refs/heads/main\n');
    write('.git/refs/heads/main', `${commit}\n`);
    assert.equal(version(), withCommit);
  });

  it('has the commit of a branch whose reference is packed, and of a detached head', () => {
    write('.git/HEAD', 'ref: refs/heads/main\n');
    write('.git/packed-refs', `# pack-refs with: peeled fully-peeled sorted\n${commit} refs/heads/main\n`);
    assert.equal(version(), withCommit);
    write('.git/HEAD', `${commit}\n`);
    assert.equal(version(), withCommit);
  });

  it('has the commit of a worktree', () => {
    write('main/.git/worktrees/other/HEAD', 'ref: refs/heads/other\n');
    write('main/.git/worktrees/other/commondir', '../..\n');
    write('main/.git/refs/heads/other', `${commit}\n`);
    write('other/.git', `gitdir: ${join(folder.path, 'main/.git/worktrees/other')}\n`);
    assert.equal(version('other'), withCommit);
  });

  it('has the commit that the build of the image has written', () => {
    write('commit', `${commit}\n`);
    assert.equal(version(), withCommit);
  });

  it('has no commit without a checkout and a written one, or when neither is a commit', () => {
    assert.equal(version(), packageJson.version);
    write('commit', 'unknown\n');
    write('.git/HEAD', 'ref: refs/heads/main\n');
    assert.equal(version(), packageJson.version);
  });
});
