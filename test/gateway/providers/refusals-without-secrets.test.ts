import assert from 'node:assert/strict';
import { gzipSync } from 'node:zlib';
import { type Behaviour, bytes, FakeProvider, json, role, stream, words } from '#test/gateway/support/fake-provider.ts';
import { type GatewayService, post, type Received, startGateway } from '#test/gateway/support/gateway-service.ts';

/** Header values and account ids that no client may see. */
const secrets = ['provider-secret', 'tenant-9 secret', 'org-Operator1', 'proj_Operator2'];
const coded = ['provider-secret', 'Bearer provider-secret', 'tenant-9 secret'].map((text) =>
  Buffer.from(text).toString('base64'),
);

describe('a refusal of a provider', () => {
  let provider: FakeProvider;
  let service: GatewayService;

  before(async () => {
    provider = await FakeProvider.start();
  });
  beforeEach(async () => {
    const headers = {
      'x-tenant': 'tenant-9 secret',
      'openai-organization': 'org-Operator1',
      'openai-project': 'proj_Operator2',
    };
    const common = { baseUrl: provider.baseUrl, apiKeyEnv: 'PROVIDER_KEY', headers };
    service = await startGateway({
      providers: {
        openai: { kind: 'openai-compatible', ...common },
        azure: { kind: 'openai-compatible', ...common, apiKeyHeader: 'api-key' },
        eleven: { kind: 'elevenlabs', ...common },
      },
      models: {
        large: { targets: [{ provider: 'openai', model: 'm' }], retries: 0 },
        azure: { targets: [{ provider: 'azure', model: 'm' }], retries: 0 },
      },
      voices: { v: { provider: 'eleven', voice: 'v', model: 'm', retries: 0 } },
    });
  });
  afterEach(() => service.stop());
  after(() => provider.stop());

  const chat = (model = 'large', more: object = {}) =>
    post(service, '/v1/chat/completions', { model, messages: [{ role: 'user', content: 'hi' }], ...more });

  const holdsNone = (answer: Received) => {
    const all = `${answer.text}\n${JSON.stringify([...answer.headers])}\n${service.logged()}${JSON.stringify(service.records)}`;
    for (const secret of [...secrets, ...coded]) assert.ok(!all.includes(secret), `${secret} in ${all}`);
    assert.match(answer.text, /\[redacted\]/);
  };

  /** All details of the request, as a debugging page of a provider shows them. */
  const echoed = (headers: NodeJS.Dict<string | string[]>) => ({
    error: {
      message: `Refused: ${JSON.stringify(headers)} ${Object.values(headers).join(' ')} of org-Operator1`,
      type: 'invalid_request_error',
      param: 'proj_Operator2',
      code: 'provider-secret',
      headers,
      coded,
    },
  });
  const echo =
    (status: number): Behaviour =>
    (res, seen) =>
      json(echoed(seen.headers), status, {
        'x-request-id': 'req_provider-secret',
        'x-should-retry': 'provider-secret',
      })(res, seen);

  for (const status of [400, 404, 409, 422, 429])
    it(`does not show the operator’s secrets to a client: ${status}`, async () => {
      provider.answers(echo(status));
      for (const model of ['large', 'azure']) {
        const answer = await chat(model);
        assert.equal(answer.status, status);
        holdsNone(answer);
        const { error } = answer.json() as { error: { type: string } };
        assert.equal(error.type, 'invalid_request_error');
        assert.equal(answer.headers.get('content-length'), String(Buffer.byteLength(answer.text)));
        assert.equal(answer.headers.get('x-switchyard-provider-request-id'), 'req_[redacted]');
      }
    });

  it('does not show secrets in a text or compressed refusal', async () => {
    provider.answers((res, seen) => bytes(Object.values(seen.headers).join('\n'), {}, 400)(res, seen));
    holdsNone(await chat());
    provider.answers((res, seen) =>
      bytes(gzipSync(JSON.stringify(echoed(seen.headers))), { 'content-encoding': 'gzip' }, 400)(res, seen),
    );
    const answer = await chat();
    holdsNone(answer);
    assert.equal(answer.headers.get('content-encoding'), null);
  });

  it('does not show secrets in an error inside an answer of status 200, or inside a stream', async () => {
    const inside = { error: { ...echoed({ authorization: 'Bearer provider-secret' }).error, code: 400 } };
    provider.answers(json(inside));
    holdsNone(await chat());
    provider.answers(stream([`data: ${JSON.stringify(inside)}\n\n`]));
    holdsNone(await chat('large', { stream: true }));
    provider.answers(stream([role, ...words('Once'), `data: ${JSON.stringify(inside)}\n\n`], { gapMs: 50 }));
    const broken = await chat('large', { stream: true });
    assert.match(broken.text, /Once/);
    holdsNone(broken);
  });

  it('does not show secrets in an error of speech', async () => {
    provider.answers((res, seen) =>
      json({ detail: { status: 'bad', message: `Key ${String(seen.headers['xi-api-key'])}` } }, 400)(res, seen),
    );
    const answer = await post(service, '/v1/audio/speech', { input: 'hi', voice: 'v' });
    assert.equal((answer.json() as { error: { message: string } }).error.message, 'Key [redacted]');
    holdsNone(answer);
  });

  it('reaches a client unchanged when it holds no secret', async () => {
    const said = '{ "error": {"message":"Too \\u0061 long", "type" : "invalid_request_error"} ,"odd":1.0 }';
    provider.answers(bytes(said, { 'content-type': 'application/json' }, 400));
    assert.equal((await chat()).text, said);
  });
});
