import assert from 'node:assert/strict';
import { type Behaviour, bytes, error, FakeProvider, json } from '#test/gateway/support/fake-provider.ts';
import { type GatewayService, post, startGateway } from '#test/gateway/support/gateway-service.ts';

const path = '/v1/messages/count_tokens';
const body = { model: 'claude', messages: [{ role: 'user', content: '12345678' }] };
const anthropic = (status: number, type: string, message: string) =>
  json({ type: 'error', error: { type, message } }, status);

describe('the tokens of a message at a provider of Messages', () => {
  let provider: FakeProvider;
  let service: GatewayService;

  before(async () => {
    provider = await FakeProvider.start();
  });
  beforeEach(async () => {
    service = await startGateway({
      providers: { anthropic: { kind: 'anthropic', baseUrl: provider.baseUrl } },
      models: { claude: { targets: [{ provider: 'anthropic', model: 'm' }] } },
    });
  });
  afterEach(() => service.stop());
  after(() => provider.stop());

  it('is the count of the provider', async () => {
    provider.answers(json({ input_tokens: 7 }));
    const answer = await post(service, path, body);
    assert.deepEqual([answer.status, answer.json()], [200, { input_tokens: 7 }]);
    assert.equal(answer.headers.get('x-switchyard-estimated'), null);
  });

  const without: ReadonlyArray<readonly [string, Behaviour]> = [
    ['an empty 404', bytes('', {}, 404)],
    [
      'a page of a proxy',
      bytes('<html><h1>404 - File or directory not found.</h1></html>', { 'content-type': 'text/html' }, 404),
    ],
    ['a text', bytes('404 page not found', { 'content-type': 'text/plain' }, 404)],
    ['FastAPI', json({ detail: 'Not Found' }, 404)],
    ['Anthropic’s own words', anthropic(404, 'not_found_error', 'Not Found')],
    ['a path that is named', anthropic(404, 'not_found_error', '/v1/messages/count_tokens not found')],
    ['Moonshot', json({ error: { message: '没找到对象', type: 'resource_not_found_error' } }, 404)],
    ['One API', error(404, '', {}, 'Invalid URL (POST /v1/messages/count_tokens)')],
    ['a model that does not count', error(404, 'x', {}, 'count_tokens is not supported for this model')],
    ['a method that is not allowed', json({ detail: 'Method Not Allowed' }, 405)],
    ['what is not implemented', json({ error: { message: 'Not implemented' } }, 501)],
    ['a 400 that names the path', error(400, 'x', {}, 'Invalid URL (POST /v1/messages/count_tokens)')],
    [
      'thoughts of another model',
      anthropic(400, 'invalid_request_error', 'messages.1.content.0: Invalid `signature` in `thinking` block'),
    ],
    ['a router', bytes('BadRequest - no parser registered for: /v1/messages/count_tokens', {}, 400)],
  ];
  for (const [name, behaviour] of without)
    it(`is an estimate where the provider has none: ${name}`, async () => {
      provider.answers(behaviour);
      // More than enough failures to open a circuit.
      for (let call = 0; call < 8; call += 1) {
        const answer = await post(service, path, body);
        assert.deepEqual([answer.status, answer.json()], [200, { input_tokens: 2 }], answer.text);
        assert.equal(answer.headers.get('x-switchyard-estimated'), 'true');
      }
      assert.equal(provider.seen.length, 8, 'the provider is asked once for each call');
      assert.ok(service.records.every(({ outcome, errorCode }) => outcome === 'served' && errorCode === null));
      const { breaker } = service.gateway.relayDependencies;
      assert.equal(breaker.openUntil('anthropic/m'), 0);
    });

  for (const [name, behaviour, status] of [
    ['a model that is not there', anthropic(404, 'not_found_error', 'model: m'), 404],
    ['a model of OpenAI’s form', error(404, 'model_not_found', {}, 'It does not exist.'), 404],
    ['a deployment', error(404, 'DeploymentNotFound', {}, 'The API deployment for this resource does not exist.'), 404],
    ['a key that is refused', anthropic(401, 'authentication_error', 'invalid x-api-key'), 502],
    ['too many calls', anthropic(429, 'rate_limit_error', 'count_tokens: not available now'), 429],
    ['a request with a fault', anthropic(400, 'invalid_request_error', 'messages: Field required'), 400],
    ['a provider that fails', anthropic(500, 'api_error', 'Internal server error'), 502],
    ['an overload', anthropic(529, 'overloaded_error', 'Overloaded'), 503],
  ] as const)
    it(`is no estimate for ${name}`, async () => {
      provider.answers(behaviour);
      const answer = await post(service, path, body);
      assert.equal(answer.status, status, answer.text);
      assert.equal(answer.headers.get('x-switchyard-estimated'), null);
    });
});
