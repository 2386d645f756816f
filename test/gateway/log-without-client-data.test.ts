import assert from 'node:assert/strict';
import { MongoServerError } from 'mongodb';
import { chatService } from '#test/gateway/support/chat-service.ts';
import { completion, json } from '#test/gateway/support/fake-provider.ts';
import { post } from '#test/gateway/support/gateway-service.ts';

const marker = 'a marker of the client';

/** Where a client can write a text. */
const headers = [
  'authorization',
  'x-api-key',
  'x-request-id',
  'idempotency-key',
  'user-agent',
  'traceparent',
  'tracestate',
  'prefer',
  'openai-beta',
  'anthropic-version',
  'anthropic-beta',
  'cookie',
  'accept',
  'content-encoding',
  'x-switchyard-reasoning',
  'switchyard-min-position',
];
const messages = [{ role: 'user', content: 'hi' }];
const members: Readonly<Record<string, unknown>> = {
  model: marker,
  messages: [{ role: 'user', content: marker, name: marker }],
  user: marker,
  metadata: { [marker]: marker },
  stop: marker,
  tools: [{ type: 'function', function: { name: marker, description: marker, parameters: { [marker]: marker } } }],
  tool_choice: marker,
  response_format: { type: marker },
  stream: marker,
  temperature: marker,
  reasoning_effort: marker,
  [marker]: marker,
};
const paths = ['/v1/chat/completions', '/v1/messages', '/v1/responses', '/v1/embeddings', '/v1/audio/speech'];

describe('the log of the gateway', () => {
  const given = chatService({ primary: json(completion('served')), backup: json(completion('served')) });
  const assertNothingOfTheClient = () => {
    const logged = given.service.logged();
    assert.ok(logged.includes('"msg":"request"'));
    assert.ok(
      !logged.includes(marker),
      logged.split('\n').find((line) => line.includes(marker)),
    );
  };

  it('has nothing of any header', async () => {
    for (const header of headers)
      for (const path of paths) await post(given.service, path, { model: 'large', messages }, { [header]: marker });
    assertNothingOfTheClient();
  });

  it('has nothing of any member of a body, of a path and of a query', async () => {
    for (const [member, value] of Object.entries(members))
      for (const path of paths)
        await post(given.service, path, { model: 'large', messages, input: 'hi', max_tokens: 9, [member]: value });
    for (const path of paths) {
      for (const body of [`{"model": "${marker}`, `"${marker}"`, marker, `{"model":"large","messages":["${marker}"]}`])
        await post(given.service, path, body);
      await post(given.service, `${path}?${encodeURIComponent(marker)}=1`, { model: 'large', messages });
      await post(given.service, `${path}/${encodeURIComponent(marker)}`, { model: 'large', messages });
    }
    assertNothingOfTheClient();
  });

  it('has nothing of what a provider repeats of a request', async () => {
    const repeated = { error: { message: marker, type: marker, param: marker, code: marker } };
    for (const status of [200, 400, 401, 404, 422, 429, 500]) {
      given.primary.answers(json(repeated, status, { 'x-request-id': marker }));
      given.backup.answers(json(repeated, status, { 'x-request-id': marker }));
      for (const path of paths)
        await post(given.service, path, { model: 'large', messages, input: 'hi', max_tokens: 9 });
    }
    assertNothingOfTheClient();
  });

  it('has nothing of what an unexpected error quotes', async () => {
    const errors = [
      () => JSON.parse(marker),
      () => {
        throw Object.assign(new MongoServerError({ message: `dup key: "${marker}"`, code: 2 }), { op: { marker } });
      },
    ];
    for (const findFile of errors) {
      const service = await given.restart(given.configuration(), {
        findFile: async () => findFile(),
        caller: { scopes: new Set(['gateway:read', 'gateway:write', 'files:read']) },
      });
      const content = [{ type: 'input_file', file_id: 'file-0123456789abcdef' }];
      const input = [{ role: 'user', content }];
      assert.equal((await post(service, '/v1/responses', { model: 'large', input })).status, 500);
      assert.ok(service.logged().includes('internal error'));
      assertNothingOfTheClient();
    }
  });
});
