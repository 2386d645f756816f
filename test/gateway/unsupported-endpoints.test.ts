import assert from 'node:assert/strict';
import { builtInConfiguration } from '#gateway/config/configuration-file.ts';
import { type GatewayService, startGateway } from '#test/gateway/support/gateway-service.ts';
import { goodKey } from '#test/http/support/fake-service.ts';

describe('a path of OpenAI’s API that is not served', () => {
  let service: GatewayService;

  before(async () => {
    service = await startGateway(builtInConfiguration);
  });
  after(() => service.stop());

  const ask = async (path: string, method = 'POST', headers: Record<string, string> = { 'x-api-key': goodKey }) => {
    const answer = await fetch(service.url + path, { method, headers });
    const { error } = (await answer.json()) as { error: { code: string; message: string } };
    return { status: answer.status, mediaType: answer.headers.get('content-type'), ...error };
  };

  for (const path of [
    '/v1/responses/resp_1/compact',
    '/v1/responses/compact',
    '/v1/responses/input_tokens',
    '/responses/compact',
    '/v1/responses/compact/',
    '/v1/rerank',
    '/v2/rerank',
    '/v1/conversations',
    '/v1/completions',
    '/v1/moderations',
    '/v1/images/generations',
    '/v1/audio/translations',
    '/v1/assistants',
    '/v1/threads/runs',
    '/v1/vector_stores',
    '/v1/realtime/sessions',
  ])
    it(`is 404 unsupported_endpoint: ${path}`, async () => {
      const { status, mediaType, code, message } = await ask(path);
      assert.deepEqual([status, mediaType, code], [404, 'application/json', 'unsupported_endpoint']);
      assert.ok(message.startsWith(`Switchyard does not serve ${path}. It serves /v1/audio/speech, `), message);
      for (const served of ['/v1/audio/transcriptions', '/v1/chat/completions', '/v1/embeddings', '/v1/models'])
        assert.ok(message.includes(served), served);
    });

  for (const path of ['/v1/responses/compact', '/v1/responses/input_tokens', '/v1/rerank'])
    for (const method of ['GET', 'DELETE', 'PUT'])
      it(`is the same for each method: ${method} ${path}`, async () => {
        const { status, code, message } = await ask(path, method);
        assert.deepEqual([status, code], [404, 'unsupported_endpoint']);
        assert.doesNotMatch(message, /nearest/);
      });

  it('names the operations that generate texts', async () => {
    const { message } = await ask('/v1/conversations');
    assert.match(message, /Use \/v1\/responses or \/v1\/chat\/completions\.$/);
  });

  it('names the correct base URL for a path with an id, and for no path of the control plane', async () => {
    const model = await ask('/models/gpt-4o', 'GET');
    assert.deepEqual([model.status, model.code], [404, 'unsupported_endpoint']);
    assert.match(model.message, /does not serve \/models\/gpt-4o, but \/v1\/models\/gpt-4o: set the client's base URL/);
    assert.equal((await ask('/flows/x', 'GET')).code, 'path_not_found');
  });

  for (const path of ['/chat/completions', '/v1/v1/chat/completions', '/v1/chat/completions/', '//v1/chat/completions'])
    it(`names the correct base URL to a client with a wrong one: ${path}`, async () => {
      const { status, code, message } = await ask(path);
      assert.deepEqual([status, code], [404, 'unsupported_endpoint']);
      assert.equal(
        message,
        `Switchyard does not serve ${path}, but /v1/chat/completions: set the client's base URL to one that ends with /v1.`,
      );
    });

  for (const [path, near] of [
    ['/v1/chat/completion', '/v1/chat/completions'],
    ['/v1/audio/transcription', '/v1/audio/transcriptions'],
  ] as const)
    it(`names the nearest endpoint for ${path}`, async () => {
      const { status, code, message } = await ask(path);
      assert.deepEqual([status, code], [404, 'unsupported_endpoint']);
      assert.equal(message, `Switchyard does not serve ${path}. The nearest is ${near}.`);
    });

  it('names the nearest endpoint with an id, and one outside of OpenAI’s API', async () => {
    const model = await ask('/v1/model/gpt-4o', 'GET');
    assert.equal(model.message, 'There is nothing at /v1/model/gpt-4o. The nearest is /v1/models/{model}.');
    assert.equal(model.code, 'path_not_found');
    assert.equal(
      (await ask('/v1/embedding')).message,
      'There is nothing at /v1/embedding. The nearest is /v1/embeddings.',
    );
  });

  for (const [path, instead] of [
    ['/v1beta/models/gemini-2.5-pro:generateContent', '/v1/chat/completions'],
    ['/v1/models/gemini-2.5-pro:streamGenerateContent', '/v1/chat/completions'],
    ['/v1beta/models/gemini-embedding-001:batchEmbedContents', '/v1/embeddings'],
  ] as const)
    it(`says what to call instead of Gemini’s ${path}`, async () => {
      const { status, code, message } = await ask(path);
      assert.deepEqual([status, code], [404, 'unsupported_endpoint']);
      assert.ok(message.includes(`which is Gemini's API: call ${instead} with`), message);
    });

  it('requires a key first', async () => {
    assert.equal((await ask('/v1/assistants', 'POST', {})).code, 'key_required');
  });

  it('does not change the answers to other unknown paths and methods', async () => {
    assert.equal((await ask('/v1/responsesx')).code, 'path_not_found');
    assert.equal((await ask('/v1/nothing')).code, 'path_not_found');
    assert.equal((await ask('/v1')).code, 'path_not_found');
    assert.equal((await ask('/nothing')).code, 'path_not_found');
    assert.equal((await ask('/v1/chat/completions', 'PUT')).status, 405);
  });
});
