import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { forwardedHeaders } from '#gateway/relay/requests.ts';
import { type Behaviour, completion, FakeProvider, json } from '#test/gateway/support/fake-provider.ts';
import { type GatewayService, post, startGateway } from '#test/gateway/support/gateway-service.ts';

const keyOf = (projectId: string, value: string) => createHash('sha256').update(`${projectId}\n${value}`).digest('hex');

/** Answers like a provider that supports `Idempotency-Key`: it repeats the first answer for a known key. */
function remembering(): Behaviour {
  const answers = new Map<string, object>();
  return (res, seen) => {
    const { 'idempotency-key': key = '' } = seen.headers;
    const answer = answers.get(String(key)) ?? completion(seen.body.toString());
    answers.set(String(key), answer);
    return json(answer)(res, seen);
  };
}

describe('headers of a client that a provider receives', () => {
  let provider: FakeProvider;
  const services: GatewayService[] = [];

  const gatewayOf = async (projectId: string): Promise<GatewayService> => {
    const targets = [{ provider: 'p', model: 'm' }];
    const voices = { v: { provider: 'p', voice: 'v', model: 'm' } };
    const providers = { p: { kind: 'openai-compatible', baseUrl: provider.baseUrl } };
    const service = await startGateway(
      { providers, models: { large: { targets } }, voices },
      { caller: { projectId } },
    );
    services.push(service);
    return service;
  };
  const chatOf = (content: string) => ({ model: 'large', messages: [{ role: 'user', content }] });

  before(async () => {
    provider = await FakeProvider.start();
  });
  afterEach(() => Promise.all(services.splice(0).map((service) => service.stop())));
  after(() => provider.stop());

  it('never give a project the answer of another project with the same Idempotency-Key', async () => {
    provider.answers(remembering());
    const [one, other] = [await gatewayOf('cproject01'), await gatewayOf('cproject02')];
    const headers = { 'idempotency-key': 'order-1' };
    const path = '/v1/chat/completions';
    const first = await post(one, path, chatOf('a secret of the first'), headers);
    const second = await post(other, path, chatOf('from the second'), headers);
    assert.match(first.text, /a secret of the first/);
    assert.match(second.text, /from the second/);
    assert.equal((await post(one, path, chatOf('again'), headers)).text, first.text);
    assert.deepEqual(
      provider.seen.map((seen) => seen.headers['idempotency-key']),
      [keyOf('cproject01', 'order-1'), keyOf('cproject02', 'order-1'), keyOf('cproject01', 'order-1')],
    );
  });

  it('contain a separate Idempotency-Key for each project in speech and transcription, too', async () => {
    provider.answers(json({ text: 'heard' }));
    const service = await gatewayOf('cproject01');
    const headers = { 'idempotency-key': 'order-1' };
    await post(service, '/v1/audio/speech', { input: 'x', voice: 'v' }, headers);
    const part = (disposition: string, content: string) =>
      `--b\r\nContent-Disposition: form-data; ${disposition}\r\n\r\n${content}\r\n`;
    const upload = `${part('name="model"', 'large')}${part('name="file"; filename="a.mp3"', 'sound')}--b--\r\n`;
    const type = { 'content-type': 'multipart/form-data; boundary=b' };
    const answer = await post(service, '/v1/audio/transcriptions', upload, { ...headers, ...type });
    assert.equal(answer.status, 200);
    const expected = keyOf('cproject01', 'order-1');
    assert.deepEqual(
      provider.seen.map((seen) => seen.headers['idempotency-key']),
      [expected, expected],
    );
  });

  it('include only the listed headers', () => {
    const headers = {
      authorization: 'Bearer x',
      'x-api-key': 'x',
      cookie: 'a=b',
      'x-forwarded-for': '192.0.2.1',
      'openai-organization': 'org-1',
      'openai-project': 'proj_1',
      'xi-api-key': 'x',
      'openai-beta': 'x=1',
      traceparent: '00-1',
      tracestate: 'a=b',
      'idempotency-key': 'k',
    };
    assert.deepEqual(forwardedHeaders(headers, 'p'), [
      ...['openai-beta', 'x=1', 'traceparent', '00-1', 'tracestate', 'a=b'],
      ...['idempotency-key', keyOf('p', 'k')],
    ]);
    assert.deepEqual(forwardedHeaders({ 'idempotency-key': '' }, 'p'), []);
    assert.deepEqual(forwardedHeaders({}, 'p'), []);
  });

  it('distinguish values whose bytes differ outside of ASCII', () => {
    const [, one] = forwardedHeaders({ 'idempotency-key': '\xe9' }, 'p');
    const [, other] = forwardedHeaders({ 'idempotency-key': '\xe8' }, 'p');
    assert.notEqual(one, other);
  });
});
