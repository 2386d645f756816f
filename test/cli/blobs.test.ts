import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { MongoClient, ObjectId } from 'mongodb';
import { openGridFsBlobStore } from '#blob-store/blob-store.gridfs.ts';
import { compileCache } from '#test/support/run/compile-cache.ts';
import { long } from '#test/support/run/long.ts';
import { patientTimeoutMs } from '#test/support/run/patient-timeout.ts';
import { describeOnSharedEngines } from '#test/support/service/engines.ts';
import { composeService, type ServiceInProcess } from '#test/support/service/service-in-process.ts';
import {
  adminKey,
  type ServiceEnvironment,
  type TemporaryFolder,
  temporaryFolder,
} from '#test/support/service/service-process.ts';

const tool = join(import.meta.dirname, '../../src/cli/blobs.ts');
const twoDaysAgo = new Date(Date.now() - 48 * 60 * 60 * 1_000);

interface ToolResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the tool as `npm run` does. */
function run(variables: ServiceEnvironment, ...words: ReadonlyArray<string>): Promise<ToolResult> {
  return new Promise((done) => {
    const env = { NODE_COMPILE_CACHE: compileCache, PATH: process.env.PATH, ...variables };
    execFile(process.execPath, [tool, ...words], { env, timeout: 120_000 }, (error, stdout, stderr) =>
      done({ code: error === null ? 0 : Number(error.code ?? -1), stdout, stderr }),
    );
  });
}

async function uploaded({ url }: ServiceInProcess, name: string): Promise<string> {
  const form = new FormData();
  form.set('file', new File(['content'], name));
  form.set('purpose', 'user_data');
  const headers = { authorization: `Bearer ${adminKey}` };
  const answer = await fetch(`${url}/v1/files`, { method: 'POST', headers, body: form });
  assert.equal(answer.status, 200);
  return ((await answer.json()) as { id: string }).id;
}

const contentOf = async ({ url }: ServiceInProcess, id: string) =>
  (await fetch(`${url}/v1/files/${id}/content`, { headers: { authorization: `Bearer ${adminKey}` } })).text();

describe('npm run blobs', function () {
  this.timeout(180_000);

  let folder: TemporaryFolder;
  beforeEach(() => {
    folder = temporaryFolder();
  });
  afterEach(() => folder.remove());

  it('names a log that does not exist', async () => {
    const nothing = await run({ DATA_DIR: folder.path }, 'sweep');
    assert.deepEqual([nothing.code, nothing.stdout], [1, '']);
    assert.match(nothing.stderr, /^blobs: .*events\.db[^\n]*\n$/);
  });

  it(`names an unknown argument, and shows its usage ${long}`, async () => {
    const variables = { DATA_DIR: folder.path };
    assert.match((await run(variables, 'dance')).stderr, /^blobs: it does not understand "dance"; it takes sweep\./);
    assert.match((await run(variables, 'sweep', '--all')).stderr, /"--all"; it takes --delete, --force\./);
    assert.match((await run(variables)).stderr, /^Usage: npm run blobs/);
    const help = await run(variables, '--help');
    assert.deepEqual([help.code, help.stdout.startsWith('Usage: npm run blobs')], [0, true]);
  });

  it('removes the orphaned contents of a running service, but only with --delete', async () => {
    const service = await composeService({ dataDir: folder.path });
    try {
      const id = await uploaded(service, 'kept.txt');
      const blobs = join(folder.path, 'blobs', 'files');
      const [kept = ''] = readdirSync(blobs);
      for (const name of ['file-old', 'part_old_1_0', 'digest-old', 'file-young']) {
        writeFileSync(join(blobs, name), 'orphan');
      }
      for (const name of [kept, 'file-old', 'part_old_1_0', 'digest-old']) {
        utimesSync(join(blobs, name), twoDaysAgo, twoDaysAgo);
      }
      const unfinished = join(folder.path, 'blobs', 'unfinished', 'running');
      writeFileSync(unfinished, 'half');

      const dry = await run({ DATA_DIR: folder.path }, 'sweep');
      assert.deepEqual([dry.code, dry.stderr], [0, '']);
      assert.match(dry.stdout, /^file-old never named, 6 bytes, stored 2/);
      assert.match(dry.stdout, /^found 2 orphaned of 3 contents older than 24 hours, 12 bytes; to remove them, add/m);
      assert.equal(readdirSync(blobs).length, 5);

      const removing = await run({ DATA_DIR: folder.path }, 'sweep', '--delete');
      assert.deepEqual([removing.code, removing.stderr], [0, '']);
      assert.match(removing.stdout, /^removed 2 orphaned of 3 contents older than 24 hours, 12 bytes$/m);
      assert.deepEqual(readdirSync(blobs).toSorted(), ['digest-old', kept, 'file-young'].toSorted());
      assert.ok(existsSync(unfinished), 'what is being uploaded stays');
      assert.equal(await contentOf(service, id), 'content');
    } finally {
      await service.stop();
    }
  });

  it(`removes nothing on a log that names none of the contents, unless it is forced ${long}`, async () => {
    const service = await composeService({ dataDir: folder.path });
    await service.stop();
    const orphan = join(folder.path, 'blobs', 'files', 'file-old');
    writeFileSync(orphan, 'orphan');
    utimesSync(orphan, twoDaysAgo, twoDaysAgo);
    const refused = await run({ DATA_DIR: folder.path }, 'sweep', '--delete');
    assert.deepEqual([refused.code, refused.stdout], [1, '']);
    assert.match(refused.stderr, /^blobs: no event of this log names any of the 1 contents/);
    assert.ok(existsSync(orphan));
    assert.equal((await run({ DATA_DIR: folder.path }, 'sweep', '--delete', '--force')).code, 0);
    assert.ok(!existsSync(orphan));
  });

  describeOnSharedEngines(`npm run blobs on EventStoreDB and MongoDB ${long}`, (engines) => {
    it('removes the orphaned contents of a running service', async function () {
      this.timeout(180_000);
      const service = await composeService({ dataDir: folder.path, environment: engines.environment() });
      const client = new MongoClient(engines.urls.readStoreUrl);
      const blobs = openGridFsBlobStore({ url: engines.urls.readStoreUrl, timeoutMs: patientTimeoutMs });
      try {
        const id = await uploaded(service, 'kept.txt');
        for (const name of ['file-old', 'file-young']) await blobs.put(name, content(), 100);
        const records = client.db().collection<{ _id: string; file: ObjectId }>('blobs');
        for (const { _id, file } of await records.find().toArray()) {
          if (_id !== 'file-young') await age(client, _id, file);
        }
        const { code, stdout } = await run(engines.environment(), 'sweep', '--delete');
        assert.equal(code, 0);
        assert.match(stdout, /^removed 1 orphaned of 2 contents older than 24 hours, 7 bytes$/m);
        assert.deepEqual([await blobs.size('file-old'), await blobs.size('file-young')], [null, 7]);
        assert.equal(await contentOf(service, id), 'content');
      } finally {
        await Promise.all([blobs.close(), client.close(), service.stop()]);
      }
    });
  });
});

/** Makes a file of GridFS two days old, by changing its id, which holds the time of its creation. */
async function age(client: MongoClient, blob: string, file: ObjectId): Promise<void> {
  const database = client.db();
  const old = ObjectId.createFromTime(twoDaysAgo.getTime() / 1_000);
  const id = new ObjectId(old.toHexString().slice(0, 8) + file.toHexString().slice(8));
  const found = await database.collection('blobContents.files').findOne({ _id: file });
  await database.collection('blobContents.files').insertOne({ ...found, _id: id });
  await database.collection('blobContents.chunks').updateMany({ files_id: file }, { $set: { files_id: id } });
  await database.collection<{ _id: string }>('blobs').updateOne({ _id: blob }, { $set: { file: id } });
}

async function* content(): AsyncIterable<Uint8Array> {
  yield Buffer.from('content');
}
