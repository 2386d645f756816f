import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const installer = join(import.meta.dirname, '../../../.ci/install-agent');

describe('.ci/install-agent', () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'install-agent-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  /** Runs it with an npm that does this, and with a cache of its own. */
  const install = (npm: string) => {
    writeFileSync(join(folder, 'npm'), `#!/usr/bin/env bash\n${npm}\n`);
    chmodSync(join(folder, 'npm'), 0o755);
    const env = { PATH: `${folder}:${process.env.PATH}`, XDG_CACHE_HOME: folder };
    const { status, stdout, stderr } = spawnSync(installer, ['desk', '1.2.3', '@desk/cli', 'desk'], { env });
    return { status, stdout: stdout.toString(), stderr: stderr.toString() };
  };

  it('prints the path of the program that npm installs', () => {
    const program = join(folder, 'switchyard/desk-1.2.3/node_modules/desk');
    const { status, stdout } = install(`mkdir -p "$6/node_modules" && cp "$0" "$6/node_modules/desk"`);
    assert.deepEqual([status, stdout], [0, `${program}\n`]);
  });

  for (const code of ['E404', 'ETARGET'])
    it(`succeeds without a program where the registry lacks the package: ${code}`, () => {
      const { status, stdout, stderr } = install(`echo 'npm error code ${code}' >&2; exit 1`);
      assert.deepEqual([status, stdout], [0, '']);
      assert.match(stderr, /NOT INSTALLED: this registry has no @desk\/cli@1\.2\.3/);
    });

  for (const [what, npm] of [
    ['npm fails otherwise', 'echo "npm error code ECONNREFUSED" >&2; exit 1'],
    ['npm is ended in between', 'mkdir -p "$6/node_modules" && cp "$0" "$6/node_modules/desk"; exit 124'],
    ['npm leaves the program out', 'exit 0'],
  ] as const)
    it(`fails, and says what to do, where ${what}`, () => {
      const { status, stdout, stderr } = install(npm);
      assert.deepEqual([status, stdout], [1, '']);
      assert.match(stderr, /FAILED: .* run \.ci\/desk again/);
      assert.ok(!existsSync(join(folder, 'switchyard/desk-1.2.3')));
    });
});
