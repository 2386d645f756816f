import assert from 'node:assert/strict';
import { completion, FakeProvider, json } from '#test/gateway/support/fake-provider.ts';
import {
  type GatewayService,
  type GatewayServiceOptions,
  startGateway,
} from '#test/gateway/support/gateway-service.ts';
import { multipart, SlowClient, transcriptionOf, transcriptions } from '#test/gateway/support/slow-client.ts';
import { goodKey } from '#test/http/support/fake-service.ts';

/** Longer than any whole request may take on this server, with the time that the server needs to notice it. */
const longMs = 1_000;
const serverLimits = { headersTimeoutMs: 200, requestTimeoutMs: 300 };
const patient = { idleMs: 20_000, totalMs: 20_000 };

describe('bodies that arrive slowly', () => {
  let provider: FakeProvider;
  let service: GatewayService;
  let client: SlowClient;

  before(async () => {
    provider = await FakeProvider.start();
  });
  after(() => provider.stop());
  afterEach(async () => {
    client.leave();
    await service.stop();
  });

  const start = async (options: GatewayServiceOptions) => {
    const configuration = {
      providers: { p: { kind: 'openai-compatible', baseUrl: provider.baseUrl } },
      models: { m: { targets: [{ provider: 'p', model: 'x' }] } },
    };
    service = await startGateway(configuration, { serverLimits, ...options });
    client = new SlowClient(service.port, goodKey);
  };

  const upload = transcriptionOf('m', 200_000);
  const chat = Buffer.from(JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'x'.repeat(200_000) }] }));
  const tooSlow = { status: 408, code: 'body_too_slow' };

  const refusal = async () => {
    const { status, json: body } = await client.answer();
    return { status, code: (body as { error: { code: string } }).error.code };
  };

  for (const [what, path, contentType, body] of [
    ['a transcription', transcriptions, multipart, upload],
    ['a chat', '/v1/chat/completions', 'application/json', chat],
  ] as const)
    describe(`${what} with a slow body`, () => {
      it('is served as long as bytes arrive, and its time limit begins after the last byte', async () => {
        provider.answers(json({ ...completion('heard'), text: 'heard' }));
        await start({ limits: { arrival: patient } });
        client.begin(path, contentType, body.length);
        const sentAt = await client.writeSlowly(body, longMs);
        assert.equal((await client.answer()).status, 200);
        const answeredAt = performance.now();
        assert.equal(provider.seen.length, 1);
        const [record] = service.records;
        assert.ok(record !== undefined && record.totalMs <= answeredAt - sentAt, JSON.stringify(record));
      });

      it('is refused when its bytes stop arriving', async () => {
        await start({ limits: { arrival: { ...patient, idleMs: 100 } } });
        client.begin(path, contentType, body.length);
        client.write(body.subarray(0, 1_000));
        assert.deepEqual(await refusal(), tooSlow);
        await client.closed;
        assert.match(service.logged(), /"status":408/);
      });

      it('is refused when it takes too long in all, and never reaches a provider', async () => {
        provider.answers(json(completion('heard')));
        await start({ limits: { arrival: { ...patient, totalMs: longMs / 2 } } });
        client.begin(path, contentType, body.length);
        const [answer] = await Promise.all([refusal(), client.writeSlowly(body, longMs)]);
        assert.deepEqual(answer, tooSlow);
        await client.closed;
        assert.equal(provider.seen.length, 0);
        assert.equal(service.records.length, 0);
      });
    });

  it('are not awaited when the answer is known before the end of the body', async () => {
    await start({ limits: { arrival: patient } });
    client.begin(transcriptions, multipart, 1_000);
    client.write('--b\r\nnonsense\r\n\r\n');
    assert.deepEqual(await refusal(), { status: 422, code: 'invalid_input' });
    await client.closed;
  });

  it('are limited by the server’s own timeout at an unknown path', async () => {
    await start({ limits: { arrival: patient } });
    client.begin('/v1/nothing', 'application/json', 1_000);
    client.write('{');
    await client.closed;
    assert.match(client.text, /^HTTP\/1\.1 404 /);
  });
});
