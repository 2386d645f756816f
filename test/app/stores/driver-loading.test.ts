import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { temporaryFolder } from '#test/support/service/service-process.ts';
import { WatchedProcess } from '#test/support/service/watched-process.ts';

const root = resolve(import.meta.dirname, '../../..');
const hook = pathToFileURL(join(root, 'test/support/service/list-loaded-modules.mjs')).href;

describe("MongoDB's driver", () => {
  it('is not loaded by what opens stores, before one of them is on MongoDB', async () => {
    const folder = temporaryFolder();
    try {
      const list = join(folder.path, 'modules');
      const environment = { LOADED_MODULES: list };
      const file = join(root, 'src/app/stores/open-stores.ts');
      const program = new WatchedProcess({ file, flags: ['--import', hook], environment });
      assert.equal((await program.ended).code, 0, program.stderr);
      const modules = readFileSync(list, 'utf8').split('\n');
      assert.ok(modules.some((url) => url.endsWith('/src/app/stores/mongodb-connections.ts')));
      assert.deepEqual(
        modules.filter((url) => url.includes('/node_modules/mongodb/')),
        [],
      );
    } finally {
      folder.remove();
    }
  });
});
