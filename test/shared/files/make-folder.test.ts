import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeFolder } from '#shared/files/make-folder.ts';

describe('makeFolder', () => {
  let root: string;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'switchyard-folder-'));
  });
  afterEach(() => rmSync(root, { recursive: true }));

  it('creates a folder and its parents for their owner only, and may be called again', () => {
    const path = join(root, 'a', 'b', 'c');
    makeFolder(path);
    makeFolder(path);
    for (const made of [path, join(root, 'a')]) assert.equal(statSync(made).mode & 0o777, 0o700);
  });

  it('throws for a path that cannot be a folder', () => {
    writeFileSync(join(root, 'file'), '');
    for (const path of [join(root, 'file'), join(root, 'file', 'a'), '/proc/switchyard/data', '/dev/null/data'])
      assert.throws(() => makeFolder(path), { syscall: /./ });
  });
});
