import assert from 'node:assert/strict';
import { gzipSync } from 'node:zlib';
import { bytes, error, FakeProvider, json, reset, stream } from '#test/gateway/support/fake-provider.ts';
import { type GatewayService, post, type Received, startGateway } from '#test/gateway/support/gateway-service.ts';
import { goodKey } from '#test/http/support/fake-service.ts';
import { eventually } from '#test/support/run/eventually.ts';

const path = '/v1/embeddings';
const json200 = { 'content-type': 'application/json' };

/** An answer of a provider. */
function answerOf(vectors: ReadonlyArray<ReadonlyArray<number>>, tokens = 8) {
  return {
    object: 'list',
    data: vectors.map((embedding, index) => ({ object: 'embedding', index, embedding })),
    model: 'embed-x',
    usage: { prompt_tokens: tokens, total_tokens: tokens },
  };
}

interface SandboxAnswer {
  readonly data: ReadonlyArray<{ readonly index: number; readonly embedding: ReadonlyArray<number> | string }>;
  readonly model: string;
  readonly usage: { readonly prompt_tokens: number; readonly total_tokens: number };
}

describe('embeddings', () => {
  let primary: FakeProvider;
  let backup: FakeProvider;
  let service: GatewayService;

  before(async () => {
    [primary, backup] = await Promise.all([FakeProvider.start(), FakeProvider.start()]);
  });
  after(() => Promise.all([primary.stop(), backup.stop()]));
  beforeEach(async () => {
    primary.answers(json(answerOf([[0.25, -0.5]])));
    backup.answers(json(answerOf([[0.5, 0.5]])));
    service = await startGateway(configuration);
  });
  afterEach(() => service.stop());

  const price = { inputPerMillion: 1_000_000 };
  const onlyPrimary = { targets: [{ provider: 'primary', model: 'embed-x' }], retries: 0, price };
  const onBoth = (more: object) => ({
    targets: [
      { provider: 'primary', model: 'embed-x', weight: 0 },
      { provider: 'backup', weight: 5, ...more },
    ],
    retries: 0,
  });
  const configuration = {
    providers: {
      get primary() {
        return { kind: 'openai-compatible', baseUrl: primary.baseUrl, apiKeyEnv: 'PROVIDER_KEY' };
      },
      get backup() {
        return { kind: 'openai-compatible', baseUrl: backup.baseUrl };
      },
      eleven: { kind: 'elevenlabs', baseUrl: 'http://127.0.0.1:9' },
      sandbox: { kind: 'sandbox' },
    },
    models: {
      embed: onlyPrimary,
      same: onBoth({ model: 'embed-x' }),
      other: onBoth({ model: 'embed-y' }),
      declared: onBoth({ model: 'embed-y', interchangeable: true }),
      failing: {
        targets: [{ provider: 'primary', model: 'embed-x' }],
        fallbacks: [
          { provider: 'sandbox', model: 'embed-y' },
          { provider: 'backup', model: 'embed-x' },
        ],
        retries: 0,
      },
      sandbox: { targets: [{ provider: 'sandbox', model: 's' }] },
      spoken: { targets: [{ provider: 'eleven', model: 's' }] },
    },
    auto: { embeddings: 'sandbox' },
  };

  const errorOf = (answer: Received) =>
    (answer.json() as { error: { message: string; param: string | null; code: string | null } }).error;

  it('pass byte for byte but for the model, with the key of the provider', async () => {
    const body = '{ "input": [[1, 2], [3]], "model":"embed" , "encoding_format": "float", "user": "\\u00e9" }';
    const answer = await post(service, path, body);
    assert.equal(answer.status, 200);
    assert.equal(answer.text, JSON.stringify(answerOf([[0.25, -0.5]])));
    assert.equal(answer.headers.get('x-switchyard-target'), 'primary/embed-x');
    const [seen] = primary.seen;
    assert.equal(seen?.path, '/v1/embeddings');
    assert.equal(seen?.headers.authorization, 'Bearer provider-secret');
    assert.equal(String(seen?.body), body.replace('"embed"', '"embed-x"'));
  });

  it('are metered by the usage in the answer, and priced', async () => {
    await post(service, path, { model: 'embed', input: 'a' });
    await eventually(() => service.records.length > 0);
    const [{ operation, model, target, outcome, tokens, cost, streamed } = assert.fail()] = service.records;
    assert.deepEqual(
      [operation, model, target, outcome, streamed],
      ['embeddings', 'embed', 'primary/embed-x', 'served', false],
    );
    assert.deepEqual([tokens, cost], [{ input: 8, output: 0 }, 8]);
  });

  for (const [what, body, pointer] of [
    ['no input', { model: 'embed' }, '/input'],
    ['an input of another type', { model: 'embed', input: 5 }, '/input'],
    ['an empty list', { model: 'embed', input: [] }, '/input'],
    ['an item of another type', { model: 'embed', input: ['a', null] }, '/input/1'],
    ['no model', { input: 'a' }, '/model'],
    ['another spelling of model', { model: 'embed', Model: 'x', input: 'a' }, '/Model'],
    ['no dimensions', { model: 'embed', input: 'a', dimensions: 0 }, '/dimensions'],
    ['an unknown format', { model: 'embed', input: 'a', encoding_format: 'hex' }, '/encoding_format'],
  ] as const)
    it(`refuse ${what} before any call`, async () => {
      const answer = await post(service, path, body);
      assert.equal(answer.status, 422);
      const { detail } = answer.json() as { detail: ReadonlyArray<{ loc: ReadonlyArray<string | number> }> };
      assert.deepEqual(
        detail.map(({ loc }) => `/${loc.slice(1).join('/')}`),
        [pointer],
      );
      assert.equal(primary.seen.length, 0);
    });

  for (const input of ['a', ['a', 'b'], [1, 2], [[1], [2, 3]]])
    it(`take the input ${JSON.stringify(input)}`, async () => {
      assert.equal((await post(service, path, { model: 'embed', input })).status, 200);
      assert.deepEqual(JSON.parse(String(primary.seen[0]?.body)), { model: 'embed-x', input });
    });

  describe('ask only targets with comparable vectors', () => {
    const servedBy = async (model: string) =>
      (await post(service, path, { model, input: 'a' })).headers.get('x-switchyard-target');

    it('that have the same model as the first one, by weight', async () => {
      assert.equal(await servedBy('same'), 'backup/embed-x');
    });

    it('and pass over another model, whatever its weight', async () => {
      assert.equal(await servedBy('other'), 'primary/embed-x');
      primary.answers(error(500, 'broken'));
      const answer = await post(service, path, { model: 'other', input: 'a' });
      assert.equal(answer.status, 502);
      assert.equal(backup.seen.length, 0);
    });

    it('or that the configuration calls interchangeable', async () => {
      assert.equal(await servedBy('declared'), 'backup/embed-y');
    });

    it('also among fallbacks', async () => {
      primary.answers(reset);
      assert.equal(await servedBy('failing'), 'backup/embed-x');
    });
  });

  it('are 404 for a model that is not in the catalogue, and for auto without one', async () => {
    assert.equal((await post(service, path, { model: 'nothing', input: 'a' })).status, 404);
    service.configure({ ...configuration, auto: {} });
    const answer = await post(service, path, { model: 'auto', input: 'a' });
    assert.deepEqual([answer.status, errorOf(answer).code], [404, 'model_not_found']);
  });

  it('say that no provider of the model has them', async () => {
    const answer = await post(service, path, { model: 'spoken', input: 'a' });
    assert.deepEqual([answer.status, errorOf(answer).code], [502, 'no_provider']);
  });

  it('pass on the refusal of a provider', async () => {
    primary.answers(error(400, 'too_long'));
    const answer = await post(service, path, { model: 'embed', input: 'a' });
    assert.deepEqual([answer.status, errorOf(answer).code], [400, 'too_long']);
  });

  for (const [what, behaviour] of [
    ['breaks off', stream(['{"object":"list","data":['], { after: 'cut', headers: json200 })],
    ['ends early', bytes('{"object":"list","data":[', json200)],
    ['is no JSON', bytes('<html>', { 'content-type': 'text/html' })],
    ['has no vectors', json({ object: 'list' })],
    ['is an error with status 200', json({ error: { message: 'busy', type: 'server_error', code: 'overloaded' } })],
  ] as const)
    it(`come from the next target when a short answer ${what}`, async () => {
      primary.answers(behaviour);
      const answer = await post(service, path, { model: 'failing', input: 'a' });
      assert.deepEqual([answer.status, answer.headers.get('x-switchyard-target')], [200, 'backup/embed-x']);
    });

  describe('with an answer of more than 1 MiB', () => {
    const large = Buffer.from(
      JSON.stringify(
        answerOf(
          Array.from({ length: 200 }, () => Array(1_500).fill(0.123456)),
          77,
        ),
      ),
    );

    it('pass as they arrive, and are metered', async () => {
      primary.answers(bytes(large, { ...json200, 'content-length': String(large.length) }));
      const answer = await post(service, path, { model: 'embed', input: 'a' });
      assert.ok(large.equals(Buffer.from(answer.text)));
      assert.equal(answer.headers.get('content-length'), String(large.length));
      await eventually(() => service.records.length > 0);
      assert.deepEqual(service.records[0]?.tokens, { input: 77, output: 0 });
    });

    it('pass compressed if a provider ignores what it was asked for', async () => {
      const noise = JSON.stringify(
        answerOf(Array.from({ length: 300 }, () => Array.from({ length: 1_500 }, Math.random))),
      );
      const zipped = gzipSync(noise);
      assert.ok(zipped.length > 1024 * 1024);
      primary.answers(bytes(zipped, { ...json200, 'content-encoding': 'gzip' }));
      assert.equal((await post(service, path, { model: 'embed', input: 'a' })).text, noise);
    });

    for (const [what, behaviour] of [
      ['breaks off', stream([large.subarray(0, -40)], { after: 'cut', headers: json200 })],
      ['ends early', bytes(large.subarray(0, -40), json200)],
    ] as const)
      it(`end the connection when the answer ${what}, and never look complete`, async () => {
        primary.answers(behaviour);
        await assert.rejects(post(service, path, { model: 'embed', input: 'a' }));
        await eventually(() => service.records.length > 0);
        assert.equal(service.records[0]?.outcome, 'broken-off');
      });

    it('are read from the provider only as fast as the client reads', async () => {
      const parts = Array.from({ length: 80 }, () => large.subarray(30, 1024 * 1024));
      primary.answers(stream([large.subarray(0, 40), ...parts], { headers: json200 }));
      const answer = await fetch(service.url + path, {
        method: 'POST',
        headers: { authorization: `Bearer ${goodKey}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'embed', input: 'a' }),
      });
      const reader = answer.body?.getReader() ?? assert.fail();
      await reader.read();
      await new Promise((resolve) => setTimeout(resolve, 300));
      assert.equal(primary.seen[0]?.closedAt, null);
      assert.ok(service.records.length === 0, 'the whole answer was read');
      await reader.cancel();
      await eventually(() => service.records.length > 0);
      assert.equal(service.records[0]?.outcome, 'client-gone');
    });
  });

  describe('of the sandbox', () => {
    const ask = async (body: object): Promise<SandboxAnswer> =>
      (await post(service, path, { model: 'auto', ...body })).json() as SandboxAnswer;
    const lengthOf = (vector: ReadonlyArray<number>) => Math.hypot(...vector);

    it('are unit vectors of 1,536 numbers, the same for the same text', async () => {
      const { data, model, usage } = await ask({ input: ['one text', 'another', 'one text'] });
      const vectors = data.map(({ embedding }) => embedding as ReadonlyArray<number>);
      assert.deepEqual([data.map(({ index }) => index), model], [[0, 1, 2], 'switchyard-sandbox']);
      assert.ok(vectors.every((vector) => vector.length === 1_536 && Math.abs(lengthOf(vector) - 1) < 1e-5));
      assert.deepEqual(vectors[0], vectors[2]);
      assert.notDeepEqual(vectors[0], vectors[1]);
      assert.deepEqual(usage, { prompt_tokens: 5, total_tokens: 5 });
    });

    it('have as many numbers as asked for, and come as Base64', async () => {
      const numbers = (await ask({ input: [1, 2, 3], dimensions: 8 })).data[0]?.embedding as ReadonlyArray<number>;
      const text = (await ask({ input: [1, 2, 3], dimensions: 8, encoding_format: 'base64' })).data[0]?.embedding;
      const read = new Float32Array(new Uint8Array(Buffer.from(String(text), 'base64')).buffer);
      assert.equal(read.length, 8);
      for (const [index, number] of read.entries()) assert.ok(Math.abs(number - (numbers[index] ?? 9)) < 1e-6);
    });

    it('may be many, and are refused beyond the limits of the sandbox', async () => {
      assert.equal((await ask({ input: Array(300).fill('a') })).data.length, 300);
      const answer = await post(service, path, { model: 'sandbox', input: Array(2_049).fill('a') });
      assert.deepEqual([answer.status, errorOf(answer).code], [400, 'sandbox_cannot_answer']);
    });
  });
});
