import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openBlobsBeside } from '#cli/stores/blobs-beside.ts';
import { openMongoDbSubjectKeys } from '#personal-data/subject-keys.mongodb.ts';
import { openSqliteSubjectKeys } from '#personal-data/subject-keys.sqlite.ts';
import { openMongoDbRecordStore } from '#records/mongodb/mongodb-record-store.ts';
import { SqliteWriter } from '#sqlite/sqlite-writer.ts';
import { compileCache } from '#test/support/run/compile-cache.ts';
import { long } from '#test/support/run/long.ts';
import { patientTimeoutMs } from '#test/support/run/patient-timeout.ts';
import { describeOnMongoDb } from '#test/support/service/mongodb-server.ts';
import { composeService } from '#test/support/service/service-in-process.ts';
import { type TemporaryFolder, temporaryFolder } from '#test/support/service/service-process.ts';

const tool = join(import.meta.dirname, '../../src/cli/subject-keys.ts');

interface ToolResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the tool as `npm run` does. */
function run(...words: ReadonlyArray<string>): Promise<ToolResult> {
  return new Promise((done) => {
    const env = { NODE_COMPILE_CACHE: compileCache, PATH: process.env.PATH };
    execFile(process.execPath, [tool, ...words], { env, timeout: 120_000 }, (error, stdout, stderr) =>
      done({ code: error === null ? 0 : Number(error.code ?? -1), stdout, stderr }),
    );
  });
}

describe('subject-keys command-line tool', function () {
  this.timeout(180_000);

  let folder: TemporaryFolder;
  let writer: SqliteWriter;
  beforeEach(() => {
    folder = temporaryFolder();
    writer = new SqliteWriter({ onFatal: assert.fail });
  });
  afterEach(async () => {
    await writer.close();
    folder.remove();
  });

  const openKeys = (file: string) => openSqliteSubjectKeys({ file, writer });

  /** Returns the path of a key file in its own folder, as a service has it. */
  const fileIn = (name: string) => {
    mkdirSync(join(folder.path, name), { recursive: true });
    return join(folder.path, name, 'subject-keys.db');
  };

  it('prints what is wrong without a URL that may hold a password', async () => {
    const wrong = await run('copy', `sqlite:${fileIn('one')}`, 'postgres://me:secret@host/db');
    assert.deepEqual([wrong.code, wrong.stderr.includes('secret')], [1, false]);
    const missing = await run('copy', `sqlite:${fileIn('one')}`, `sqlite:${fileIn('two')}`);
    assert.deepEqual([missing.code, missing.stdout], [1, '']);
    assert.match(missing.stderr, /There is no file/);
  });

  it(`prints what is wrong with its words and its files ${long}`, async () => {
    for (const words of [[], ['copy', 'a']]) {
      const { code, stderr } = await run(...words);
      assert.deepEqual([code, stderr.startsWith('Usage:')], [1, true], words.join(' '));
    }
    const surplus = await run('copy', 'a', 'b', 'mongodb://me:secret@host/db');
    assert.match(
      surplus.stderr,
      /^subject-keys: it does not understand "mongodb:\/\/…"; it takes nothing more\. [^\n]+\n$/,
    );
    assert.match((await run('other')).stderr, /does not understand "other"; it takes copy\./);
    const log = join(folder.path, 'log.ndjson');
    writeFileSync(log, '{}\n'.repeat(1000));
    const other = await run('copy', `sqlite:${log}`, `sqlite:${fileIn('two')}`);
    assert.deepEqual([other.code, other.stdout], [1, '']);
    assert.match(other.stderr, /^subject-keys: .*log\.ndjson cannot be opened: [^\n]+\n$/);
    assert.equal((await run('--help')).code, 0);
  });

  it('refuses to copy the keys of a running service', async () => {
    const service = await composeService({ dataDir: folder.path });
    try {
      const result = await run('copy', `sqlite:${join(folder.path, 'subject-keys.db')}`, `sqlite:${fileIn('two')}`);
      assert.equal(result.code, 1);
      assert.match(result.stderr, /in use/);
    } finally {
      await service.stop();
    }
  });

  it('reports subjects with different keys in both stores, and keeps their keys', async () => {
    const [one, two] = [fileIn('one'), fileIn('two')];
    const [from, to] = [openKeys(one), openKeys(two)];
    await from.obtain('same');
    const kept = await to.obtain('same');
    await Promise.all([from.close(), to.close()]);
    const result = await run('copy', `sqlite:${one}`, `sqlite:${two}`);
    assert.equal(result.code, 1);
    assert.match(result.stderr, /same has another key/);
    const after = openKeys(two);
    assert.deepEqual(await after.obtain('same'), kept);
    await after.close();
  });

  describeOnMongoDb('subject-keys tool between SQLite and MongoDB', (server) => {
    it('copies keys in both directions, and destroys keys that were destroyed in either store', async () => {
      const url = server.newUrl();
      const [one, two] = [fileIn('one'), fileIn('two')];
      const from = openKeys(one);
      const made = new Map<string, Uint8Array | null>();
      for (let index = 0; index < 30; index += 1) made.set(`subject ${index}`, await from.obtain(`subject ${index}`));
      for (const subject of ['subject 3', 'subject 7']) {
        await from.destroy(subject);
        made.set(subject, null);
      }
      await from.close();
      for (let time = 0; time < 2; time += 1) {
        const result = await run('copy', `sqlite:${one}`, url);
        assert.deepEqual([result.code, result.stdout], [0, 'copied 28 keys, and the marks of 2 that are destroyed\n']);
      }
      const between = openMongoDbSubjectKeys({ url, timeoutMs: patientTimeoutMs });
      await between.destroy('subject 9');
      made.set('subject 9', null);
      await between.close();
      // A key that was destroyed meanwhile is not restored.
      assert.equal((await run('copy', `sqlite:${one}`, url)).code, 0);
      assert.equal((await run('copy', url, `sqlite:${two}`)).code, 0);
      const to = openKeys(two);
      assert.deepEqual(new Map(await to.page('', 100)), made);
      await to.close();
    });

    it('refuses a database of a newer release in one line, as the tools for contents of files do', async () => {
      const url = server.newUrl();
      const records = openMongoDbRecordStore({ url });
      await records.put('format', new Map([['database', { format: 99, writtenBy: '9.1.0' }]]));
      await records.close();
      const keys = fileIn('one');
      await openKeys(keys).close();
      const { code, stderr } = await run('copy', `sqlite:${keys}`, url);
      assert.deepEqual([code, stderr.trim().split('\n').length], [1, 1]);
      assert.match(stderr, /written by Switchyard 9\.1\.0 \(format 99,/);
      await assert.rejects(openBlobsBeside({ kind: 'gridfs', url }), /BLOB_STORE_URL .*\(format 99,/);
    });
  });
});
