import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { MongoClient } from 'mongodb';
import { ApiError, allIds, FilesClient } from '#test/e2e/support/files-client.ts';
import { composedService, runningService } from '#test/e2e/support/running-service.ts';
import { newKey, newProject } from '#test/e2e/support/tenants.ts';
import { uploadText } from '#test/e2e/support/upload.ts';
import { long } from '#test/support/run/long.ts';
import { describeOnEngines } from '#test/support/service/engines.ts';
import { poll } from '#test/support/service/service-process.ts';

const mebibyte = 1024 * 1024;

describeOnEngines('files', (engines) => {
  const running = composedService(engines, {
    MAX_FILE_BYTES: String(3 * mebibyte),
    FILES_QUOTA_BYTES: String(5 * mebibyte),
  });
  let key: string;
  let client: FilesClient;

  /** Uses the key of a new project, so that a test sees only its own files. */
  beforeEach(async () => {
    key = (await newKey(running.client, await newProject(running.client), 'project')).key;
    client = new FilesClient(running.url, key);
  });

  const upload = (content: Buffer | string, name = 'notes.txt', more: Readonly<Record<string, string>> = {}) =>
    client.upload(content, name, { purpose: 'user_data', ...more });
  const contentOf = async (id: string, headers: Record<string, string> = {}) =>
    fetch(`${running.url}/v1/files/${id}/content`, { headers: { authorization: `Bearer ${key}`, ...headers } });
  const refusalOf = (call: Promise<unknown>): Promise<ApiError> =>
    call.then(
      () => assert.fail('it was taken'),
      (error: unknown) => (error instanceof ApiError ? error : assert.fail(String(error))),
    );
  const listed = async (query: Readonly<Record<string, string>> = {}) =>
    (await client.files(query)).data.map(({ id }) => id);

  it('can be uploaded, read, downloaded and deleted', async () => {
    const content = randomBytes(2 * mebibyte + 7);
    const file = await upload(content, 'Grüße "1".bin');
    assert.match(file.id, /^file-[0-9a-z]{8,}$/);
    assert.deepEqual(
      [file.object, file.bytes, file.filename, file.purpose, file.status],
      ['file', content.length, 'Grüße "1".bin', 'user_data', 'processed'],
    );
    assert.ok(Math.abs(file.created_at - Date.now() / 1_000) < 60);
    assert.deepEqual(await client.file(file.id), file);
    const answer = await client.content(file.id);
    assert.deepEqual(Buffer.from(await answer.arrayBuffer()), content);
    assert.equal(answer.headers.get('etag'), `"${createHash('sha256').update(content).digest('hex')}"`);
    assert.equal(answer.headers.get('x-content-type-options'), 'nosniff');
    assert.match(answer.headers.get('content-disposition') ?? '', /^attachment; filename=/);
    assert.deepEqual(await client.deleteFile(file.id), { id: file.id, object: 'file', deleted: true });
    for (const call of ['file', 'content', 'deleteFile'] as const)
      assert.equal((await refusalOf(client[call](file.id))).status, 404);
  });

  it('can be downloaded in parts, and are not sent again to a client that has them', async () => {
    const content = randomBytes(100_000);
    const { id } = await upload(content);
    const part = await contentOf(id, { range: 'bytes=10-19' });
    assert.deepEqual([part.status, part.headers.get('content-range')], [206, 'bytes 10-19/100000']);
    assert.deepEqual(Buffer.from(await part.arrayBuffer()), content.subarray(10, 20));
    const end = await contentOf(id, { range: 'bytes=-5' });
    assert.deepEqual(Buffer.from(await end.arrayBuffer()), content.subarray(-5));
    const beyond = await contentOf(id, { range: 'bytes=100000-' });
    assert.deepEqual([beyond.status, beyond.headers.get('content-range')], [416, 'bytes */100000']);
    const etag = part.headers.get('etag') ?? '';
    assert.equal((await contentOf(id, { 'if-none-match': etag })).status, 304);
    const changed = await contentOf(id, { range: 'bytes=0-9', 'if-range': '"other"' });
    assert.deepEqual([changed.status, (await changed.arrayBuffer()).byteLength], [200, 100_000]);
    const head = await fetch(`${running.url}/v1/files/${id}/content`, {
      method: 'HEAD',
      headers: { authorization: `Bearer ${key}` },
    });
    assert.deepEqual([head.status, head.headers.get('content-length')], [200, '100000']);
  });

  it('can be listed by page, order and purpose', async () => {
    const first = await upload('1');
    const second = await upload('2', 'b.jsonl', { purpose: 'batch' });
    const third = await upload('3');
    assert.deepEqual(await listed(), [third.id, second.id, first.id]);
    assert.deepEqual(await listed({ order: 'asc' }), [first.id, second.id, third.id]);
    assert.deepEqual(await listed({ purpose: 'batch' }), [second.id]);
    const page = await client.files({ limit: '2' });
    assert.deepEqual([page.data.map(({ id }) => id), page.has_more], [[third.id, second.id], true]);
    assert.deepEqual(await allIds((query) => client.files(query)), [third.id, second.id, first.id]);
    assert.equal((await refusalOf(client.files({ after: 'file-unknown00' }))).status, 422);
  });

  it('are accessible only to their own project', async () => {
    const { id } = await upload('secret');
    const other = (await newKey(running.client, await newProject(running.client), 'project')).key;
    const stranger = new FilesClient(running.url, other);
    for (const call of ['file', 'content', 'deleteFile'] as const)
      assert.equal((await refusalOf(stranger[call](id))).status, 404);
    assert.deepEqual((await stranger.files()).data, []);
    const reader = (await newKey(running.client, await newProject(running.client), 'project', ['files:read'])).key;
    const readOnly = new FilesClient(running.url, reader);
    const call = readOnly.upload('x', 'x', { purpose: 'batch' });
    assert.equal((await refusalOf(call)).status, 403);
  });

  it('are refused beyond the size limit and the quota, and occupy no space when they are refused', async () => {
    const over = await refusalOf(upload(Buffer.alloc(3 * mebibyte + 1)));
    assert.deepEqual([over.status, over.code], [413, 'file_too_large']);
    await upload(Buffer.alloc(3 * mebibyte));
    const full = await refusalOf(upload(Buffer.alloc(2 * mebibyte + 1)));
    assert.deepEqual([full.status, full.code], [413, 'files_quota_exceeded']);
    const { id } = await upload(Buffer.alloc(2 * mebibyte));
    assert.equal((await refusalOf(upload('x'))).code, 'files_quota_exceeded');
    await client.deleteFile(id);
    assert.ok(await poll(async () => (await upload('x').catch(() => null)) !== null, 60_000));
  });

  it('may be empty and may expire', async () => {
    const expiring = (seconds: number) => ({
      'expires_after[anchor]': 'created_at',
      'expires_after[seconds]': String(seconds),
    });
    const file = await upload('', 'empty.txt', expiring(3_600));
    assert.deepEqual([file.bytes, file.expires_at], [0, file.created_at + 3_600]);
    assert.equal((await (await contentOf(file.id)).arrayBuffer()).byteLength, 0);
    const soon = await refusalOf(upload('x', 'x', expiring(10)));
    assert.deepEqual([soon.status, soon.param], [422, 'expires_after.seconds']);
  });

  it('report the fault of an invalid form', async () => {
    const send = async (form: FormData) => {
      const answer = await fetch(`${running.url}/v1/files`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}` },
        body: form,
      });
      const body = (await answer.json()) as { error: { param: string | null } };
      return [answer.status, body.error.param];
    };
    const form = (fill: (form: FormData) => void) => {
      const made = new FormData();
      fill(made);
      return made;
    };
    const file = new File(['content'], 'a.txt');
    assert.deepEqual(await send(form((each) => each.set('purpose', 'batch'))), [422, 'file']);
    assert.deepEqual(await send(form((each) => each.set('file', file))), [422, 'purpose']);
    assert.deepEqual(
      await send(
        form((each) => {
          each.set('file', 'a text');
          each.set('purpose', 'batch');
        }),
      ),
      [422, 'file'],
    );
    assert.deepEqual(
      await send(
        form((each) => {
          each.append('file', file);
          each.append('file', file);
          each.set('purpose', 'batch');
        }),
      ),
      [422, 'file'],
    );
    const json = await running.client.as(key).post('/v1/files', { purpose: 'batch' });
    assert.equal(json.status, 415);
  });

  it('return the first file for a repeated Idempotency-Key, and store its content once', async () => {
    const send = async (content: string) => {
      const form = new FormData();
      form.set('file', new File([content], 'a.txt'));
      form.set('purpose', 'batch');
      const headers = { authorization: `Bearer ${key}`, 'idempotency-key': 'once' };
      return fetch(`${running.url}/v1/files`, { method: 'POST', headers, body: form });
    };
    const [first, second, other] = [await send('same'), await send('same'), await send('other')];
    const { id } = (await first.json()) as { id: string };
    assert.equal(((await second.json()) as { id: string }).id, id);
    assert.equal(other.status, 422);
    assert.deepEqual(await listed(), [id]);
    assert.equal(await (await contentOf(id)).text(), 'same');
  });

  it('leave nothing behind when the connection of an upload is cut', async () => {
    const sent = request(`${running.url}/v1/files`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'multipart/form-data; boundary=cut' },
    });
    sent.on('error', () => undefined);
    sent.write('--cut\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n');
    sent.write(randomBytes(mebibyte));
    const folder = join(running.dataDir, 'blobs');
    const stored = (name: string) => (existsSync(join(folder, name)) ? readdirSync(join(folder, name)) : []);
    const isFolder = existsSync(folder);
    if (isFolder) assert.ok(await poll(async () => stored('unfinished').length === 1, 60_000));
    const before = stored('files').length;
    const inMongoDb = await contentsIn(engines.environment().READ_STORE_URL);
    if (inMongoDb !== null) assert.ok(await poll(async () => (await inMongoDb.unfinished()) === 1, 60_000));
    sent.destroy();
    if (isFolder) assert.ok(await poll(async () => stored('unfinished').length === 0, 60_000));
    assert.equal(stored('files').length, before);
    if (inMongoDb !== null) {
      assert.ok(await poll(async () => (await inMongoDb.unfinished()) === 0, 60_000));
      assert.equal(await inMongoDb.orphanedPieces(), 0);
      await inMongoDb.close();
    }
    assert.deepEqual(await listed(), []);
  });
});

describeOnEngines(`files after kill -9 ${long}`, (engines) => {
  const running = runningService(engines);

  it('have their contents', async () => {
    const { id } = await uploadText(running.client, 'kept');
    const restarted = await running.restarted();
    assert.equal((await restarted.get(`/v1/files/${id}/content`)).text, 'kept');
  });
});

/** Counts what uploads leave behind in MongoDB; null for a service on embedded stores. */
async function contentsIn(url: string | undefined) {
  if (url === undefined) return null;
  const client = await new MongoClient(url).connect();
  const database = client.db();
  return {
    unfinished: () => database.collection('blobLeftovers').countDocuments(),
    orphanedPieces: async () => {
      const known = (await database.collection('blobs').find().toArray()).map(({ file }) => String(file));
      const pieces = await database
        .collection('blobContents.chunks')
        .find({}, { projection: { files_id: 1 } })
        .toArray();
      return pieces.filter(({ files_id }) => !known.includes(String(files_id))).length;
    },
    close: () => client.close(),
  };
}
