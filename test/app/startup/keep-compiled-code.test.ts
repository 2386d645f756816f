import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { promisify } from 'node:util';
import { temporaryFolder } from '#test/support/service/service-process.ts';

const run = promisify(execFile);

describe('the code that Node has compiled', () => {
  const folderOf = async (env: Readonly<Record<string, string>>) => {
    const script = "console.log(require('node:module').getCompileCacheDir() ?? 'none')";
    const { stdout } = await run(process.execPath, ['--import', './src/app/startup/preload.mjs', '-e', script], {
      env,
    });
    return stdout.trim();
  };

  it('is kept beside the code where npm ci removes nothing, or in the folder that NODE_COMPILE_CACHE names', async () => {
    const folder = temporaryFolder();
    try {
      const kept = await folderOf({});
      assert.doesNotMatch(kept, /node_modules/);
      assert.match(kept, /\/\.cache\/compiled\/v24/);
      assert.ok((await folderOf({ NODE_COMPILE_CACHE: folder.path })).startsWith(`${folder.path}/v24`));
    } finally {
      folder.remove();
    }
  });

  it('is not kept when coverage is counted or the cache is turned off', async () => {
    const folder = temporaryFolder();
    try {
      assert.equal(await folderOf({ NODE_V8_COVERAGE: folder.path }), 'none');
      assert.equal(await folderOf({ NODE_DISABLE_COMPILE_CACHE: '1' }), 'none');
    } finally {
      folder.remove();
    }
  });

  it('is filled by a start of the service that leaves nothing else', async () => {
    const [compiled, temporary] = [temporaryFolder(), temporaryFolder()];
    try {
      const env = { PATH: process.env.PATH, NODE_COMPILE_CACHE: compiled.path, TMPDIR: temporary.path };
      await run(process.execPath, ['src/cli/fill-compile-cache.ts'], { env, timeout: 60_000 });
      assert.ok(readdirSync(compiled.path, { recursive: true }).length > 1000);
      assert.deepEqual(readdirSync(temporary.path), []);
    } finally {
      compiled.remove();
      temporary.remove();
    }
  }).timeout(60_000);
});
