import assert from 'node:assert/strict';
import type { Caller } from '#domain/shared/access.ts';
import { Admission } from '#exchange/admission.ts';
import type { ByteBudget } from '#exchange/byte-budget.ts';
import { type GatewayService, startGateway } from '#test/gateway/support/gateway-service.ts';
import { multipart, SlowClient, transcriptionOf, transcriptions } from '#test/gateway/support/slow-client.ts';
import { eventually } from '#test/support/run/eventually.ts';
import { caller, type FakeService, startFakeService } from './support/fake-service.ts';

const kibibyte = 1024;
const limits = { maxBytesPerProject: 300 * kibibyte, maxBytes: 500 * kibibyte };
/** A project's key is its id. */
const authenticate = async (key: string): Promise<Caller> => ({
  ...caller,
  keyId: `k${key}`,
  keyType: 'project',
  projectId: key,
  scopes: new Set(['gateway:write', 'flows:write']),
});
const configuration = {
  providers: { p: { kind: 'sandbox' } },
  models: { m: { targets: [{ provider: 'p', model: 'x' }] } },
};
const chat = (bytes: number) =>
  Buffer.from(JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'x'.repeat(bytes) }] }));
const widget = (bytes: number) => Buffer.from(JSON.stringify({ name: 'cog', shape: { teeth: 'x'.repeat(bytes) } }));

for (const [plane, path, body] of [
  ['the gateway', '/v1/chat/completions', chat],
  ['the control plane', '/v1/projects/cproject01/widgets', widget],
] as const)
  describe(`ByteBudget of request bodies on ${plane}`, () => {
    let budget: ByteBudget;
    let service: FakeService | GatewayService;
    let clients: SlowClient[];

    beforeEach(async () => {
      const admission = new Admission({ limits: { bytes: { body: limits } } });
      budget = admission.budgets.body;
      clients = [];
      const options = { admission, authenticate };
      service =
        plane === 'the gateway'
          ? await startGateway(configuration, options)
          : await startFakeService({ ...options, limits: { maxBodyBytes: 1024 * kibibyte } });
    });
    afterEach(async () => {
      for (const client of clients) client.leave();
      await service.stop();
    });

    /** Sends the first bytes of a body. */
    function begin(project: string, whole: Buffer, bytes = whole.length): SlowClient {
      const client = new SlowClient(service.port, project);
      clients.push(client);
      client.begin(path, 'application/json', whole.length);
      client.write(whole.subarray(0, bytes));
      return client;
    }

    /** Sends a body without its end, and waits until the bytes are counted. */
    async function leaveUnfinished(project: string, bytes: number): Promise<SlowClient> {
      const before = budget.bytes;
      const client = begin(project, body(bytes + 10), bytes);
      await eventually(() => budget.bytes >= before + bytes || client.text !== '', 'the bytes');
      return client;
    }

    const refusalOf = async (client: SlowClient) => {
      const { status, json } = await client.answer();
      const { code, error } = json as { readonly code?: string; readonly error?: { readonly code: string } };
      const retryAfter = Number(/retry-after: (\d+)/i.exec(client.text)?.[1]);
      assert.ok(retryAfter >= 1, client.text);
      return [status, code ?? error?.code.replaceAll('_', '-')];
    };

    it('counts the bytes of a body as they arrive, and releases them with the response or when the client disconnects', async () => {
      const whole = body(50_000);
      const client = begin('one', whole, 40_000);
      await eventually(() => budget.bytes >= 40_000, 'the bytes');
      assert.ok(budget.bytes < 50_000, String(budget.bytes));
      client.write(whole.subarray(40_000));
      assert.ok((await client.answer()).status < 300);
      await eventually(() => budget.bytes === 0, 'the release');
      const leaving = await leaveUnfinished('one', 40_000);
      leaving.leave();
      await eventually(() => budget.bytes === 0, 'the release');
      const malformed = begin('one', Buffer.from(`{"a":${'x'.repeat(20_000)}`));
      assert.ok((await malformed.answer()).status >= 400);
      await eventually(() => budget.bytes === 0, 'the release');
      assert.equal(budget.projects, 0);
    });

    it('refuses bytes beyond a project’s limit with 429, and accepts another project’s', async () => {
      await leaveUnfinished('one', 200 * kibibyte);
      const announced = begin('one', body(200 * kibibyte), 0);
      assert.deepEqual(await refusalOf(announced), [429, 'too-many-body-bytes']);
      const client = begin('one', body(90 * kibibyte), 10);
      const growing = begin('one', body(80 * kibibyte), 60 * kibibyte);
      await eventually(() => budget.bytes > 260 * kibibyte, 'the bytes');
      client.write(body(90 * kibibyte).subarray(10));
      assert.deepEqual(await refusalOf(client), [429, 'too-many-body-bytes']);
      growing.leave();
      assert.ok((await begin('two', body(100 * kibibyte)).answer()).status < 300);
    });

    it('evicts the unfinished body of the project that holds most with 408 when the node is full', async () => {
      const greedy = await leaveUnfinished('one', 290 * kibibyte);
      const modest = await leaveUnfinished('two', 190 * kibibyte);
      const newcomer = begin('three', body(100 * kibibyte));
      assert.deepEqual(await refusalOf(greedy), [408, 'body-evicted']);
      assert.ok((await newcomer.answer()).status < 300);
      assert.equal(modest.text, '');
    });

    it('refuses bytes with 503 when the node is full and no project holds more than the asking one', async () => {
      await leaveUnfinished('one', 200 * kibibyte);
      await leaveUnfinished('two', 200 * kibibyte);
      assert.deepEqual(await refusalOf(begin('three', body(250 * kibibyte))), [503, 'bodies-full']);
    });

    it('never exceeds the limits, however small the pieces of a body are', async () => {
      const client = new SlowClient(service.port, 'one');
      clients.push(client);
      client.write(
        `POST ${path} HTTP/1.1\r\nHost: a\r\nx-api-key: one\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`,
      );
      client.write('1\r\n \r\n'.repeat(2_000));
      assert.deepEqual(await refusalOf(client), [429, 'too-many-body-bytes']);
      await eventually(() => budget.bytes === 0, 'the release');
    });
  });

describe('ByteBudget of uploads', () => {
  it('counts an upload’s bytes in memory until they are in the file, and none once the upload has ended', async () => {
    const limits = { maxBytesPerProject: 2_000_000, maxBytes: 2_000_000 };
    const admission = new Admission({ limits: { bytes: { body: limits } } });
    const budget = admission.budgets.body;
    const service = await startGateway(configuration, { admission, authenticate });
    const client = new SlowClient(service.port, 'one');
    try {
      const upload = transcriptionOf('m', 5_000_000);
      client.begin(transcriptions, multipart, upload.length);
      client.write(upload.subarray(0, 4_900_000));
      await eventually(() => budget.bytes > 1_000_000, 'the bytes in memory');
      client.write(upload.subarray(4_900_000));
      assert.equal((await client.answer()).status, 200);
      await eventually(() => budget.bytes === 0, 'the release');
    } finally {
      client.leave();
      await service.stop();
    }
  });
});
