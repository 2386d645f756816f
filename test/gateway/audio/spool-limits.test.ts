import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Caller } from '#domain/shared/access.ts';
import { ByteBudget } from '#exchange/byte-budget.ts';
import { FreeSpace } from '#shared/files/free-space.ts';
import {
  type GatewayService,
  type GatewayServiceOptions,
  startGateway,
} from '#test/gateway/support/gateway-service.ts';
import { multipart, SlowClient, transcriptionOf, transcriptions } from '#test/gateway/support/slow-client.ts';
import { caller } from '#test/http/support/fake-service.ts';
import { eventually } from '#test/support/run/eventually.ts';

const megabyte = 1_000_000;
const limits = { maxBytesPerProject: 4 * megabyte, maxBytes: 6 * megabyte };
/** A project's key is its id. */
const authenticate = async (key: string): Promise<Caller> => ({
  ...caller,
  keyType: 'project',
  projectId: key,
  scopes: new Set(['gateway:write']),
});
const configuration = {
  providers: { p: { kind: 'sandbox' } },
  models: { m: { targets: [{ provider: 'p', model: 'x' }] } },
};

describe('limits of uploads on disk', () => {
  let folder: string;
  let budget: ByteBudget;
  let service: GatewayService;
  let clients: SlowClient[];

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'switchyard-spool-'));
    budget = new ByteBudget(limits);
    clients = [];
  });
  afterEach(async () => {
    for (const client of clients) client.leave();
    await eventually(() => budget.bytes === 0, 'the release of every byte');
    assert.deepEqual(await readdir(folder), [], 'nothing is left');
    await service.stop();
    await rm(folder, { recursive: true });
  });

  const start = async (options: GatewayServiceOptions = {}) => {
    service = await startGateway(configuration, { authenticate, spoolFolder: folder, spoolBudget: budget, ...options });
  };

  /** Sends the first bytes of an upload whose length is announced. */
  function begin(project: string, upload: Buffer, bytes = upload.length): SlowClient {
    const client = new SlowClient(service.port, project);
    clients.push(client);
    client.begin(transcriptions, multipart, upload.length);
    client.write(upload.subarray(0, bytes));
    return client;
  }

  /** Sends an upload without its end, and waits until most of it is in a file. */
  async function leaveUnfinished(project: string, bytes: number): Promise<SlowClient> {
    const before = budget.bytes;
    const upload = transcriptionOf('m', bytes);
    const client = begin(project, upload, upload.length - 10);
    await eventually(() => budget.bytes >= before + bytes - 1.3 * megabyte, 'the bytes');
    return client;
  }

  const refusalOf = async (client: SlowClient) => {
    const { status, json } = await client.answer();
    if (status !== 413) assert.match(client.text, /retry-after: [1-9]/i);
    return [status, (json as { error: { code: string } }).error.code];
  };

  it('count an upload until it is relayed, and keep no count after that', async () => {
    await start();
    const upload = transcriptionOf('m', 3 * megabyte);
    const client = begin('one', upload, upload.length - 10);
    await eventually(() => budget.bytesOf('one') > 1.5 * megabyte, 'the bytes');
    client.write(upload.subarray(upload.length - 10));
    assert.equal((await client.answer()).status, 200);
  });

  it('answer an upload beyond its project’s limit with 429, as announced and as it arrives', async () => {
    await start();
    await leaveUnfinished('one', 4 * megabyte);
    assert.deepEqual(await refusalOf(begin('one', transcriptionOf('m', 4 * megabyte), 0)), [
      429,
      'too_many_spool_bytes',
    ]);
    const chunked = new SlowClient(service.port, 'one');
    clients.push(chunked);
    const upload = transcriptionOf('m', 4 * megabyte);
    chunked.write(
      `POST ${transcriptions} HTTP/1.1\r\nHost: a\r\nx-api-key: one\r\nContent-Type: ${multipart}\r\nTransfer-Encoding: chunked\r\n\r\n`,
    );
    chunked.write(`${upload.length.toString(16)}\r\n`);
    chunked.write(upload);
    assert.deepEqual(await refusalOf(chunked), [429, 'too_many_spool_bytes']);
  });

  it('answer an upload beyond the node’s limit with 503', async () => {
    await start();
    await leaveUnfinished('one', 4 * megabyte);
    await leaveUnfinished('two', 3.5 * megabyte);
    assert.deepEqual(await refusalOf(begin('three', transcriptionOf('m', 3 * megabyte))), [503, 'spool_full']);
  });

  it('answer an upload that is too large by itself with 413', async () => {
    await start({ limits: { maxAudioBytes: megabyte } });
    assert.deepEqual(await refusalOf(begin('one', transcriptionOf('m', 2 * megabyte), 0)), [413, 'body_too_large']);
  });

  it('answer an upload with 503 before or during its arrival when too little disk space would stay free', async () => {
    let freeBytes = 10 * megabyte;
    const volumeOf = async () => ({ totalBytes: 100 * megabyte, freeBytes });
    await start({ freeSpace: new FreeSpace({ folders: ['/data'], minFreeBytes: 8 * megabyte, volumeOf }) });
    assert.deepEqual(await refusalOf(begin('one', transcriptionOf('m', 4 * megabyte), 0)), [503, 'disk_full']);
    const upload = transcriptionOf('m', 2.5 * megabyte);
    const client = begin('one', upload, 1.5 * megabyte);
    await eventually(() => budget.bytes > 0, 'the first bytes in the file');
    freeBytes = 8 * megabyte;
    client.write(upload.subarray(1.5 * megabyte));
    assert.deepEqual(await refusalOf(client), [503, 'disk_full']);
  });

  it('answer an upload with 503 when the disk is full in spite of the limits', async () => {
    await start({
      makeFile: async () => {
        throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
      },
    });
    assert.deepEqual(await refusalOf(begin('one', transcriptionOf('m', 3 * megabyte))), [503, 'disk_full']);
  });
});
