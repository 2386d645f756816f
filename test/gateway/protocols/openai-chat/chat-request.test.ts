import assert from 'node:assert/strict';
import * as E from 'fp-ts/lib/Either.js';
import { readChatRequest } from '#gateway/protocols/openai-chat/chat-request.ts';

const maxValues = 1_000;
const read = (body: string | Buffer) => readChatRequest(Buffer.from(body), maxValues);

const refused = async (body: unknown) => {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const request = await read(text);
  return E.isLeft(request) ? request.left : assert.fail(`${text} is taken`);
};

const places = async (body: unknown) =>
  ((await refused(body)).errors ?? []).map(({ pointer, message }) => `${pointer} ${message}`);

describe('readChatRequest', () => {
  const messages = [{ role: 'user', content: 'hi' }];

  it('reads the members that the relay needs', async () => {
    const request = await read('{"model":"m","messages":[],"stream":null,"n":2,"reasoning":7}');
    assert.ok(E.isRight(request));
    const { model, stream, choices } = request.right;
    assert.deepEqual({ model, stream, choices }, { model: 'm', stream: false, choices: 2 });
  });

  it('accepts message content that is text, parts, null or absent', async () => {
    for (const content of ['', null, undefined, [], [{ type: 'image_url' }]])
      assert.ok(E.isRight(await read(JSON.stringify({ model: 'm', messages: [{ role: 'x', content }] }))));
  });

  it('reports every fault with its place', async () => {
    assert.deepEqual(await places({}), ['/model is required', '/messages is required']);
    assert.deepEqual(await places({ model: 7, messages: {} }), [
      '/model must be a string',
      '/messages must be an array',
    ]);
    assert.deepEqual(await places({ model: 'm', messages: [{}, 'x', { role: 1, content: 5 }] }), [
      '/messages/0/role is required',
      '/messages/1 must be an object',
      '/messages/2/role must be a string',
      '/messages/2/content must be a string or a list of content parts',
    ]);
    assert.deepEqual(await places({ model: 'm', messages, stream: 'yes' }), ['/stream must be true or false']);
    assert.deepEqual(await places({ model: 'auto', messages, reasoning: 'deep' }), [
      '/reasoning must be one of "fast", "balanced", "smart", "turbo"',
    ]);
    assert.equal((await places({ model: 'm', messages: Array(500).fill({}) })).length, 100);
  });

  it('shows a short invalid value, and sends no prompt back', async () => {
    const shown = async (body: unknown) => ((await refused(body)).errors ?? []).map(({ input }) => input);
    assert.deepEqual(await shown({ model: 'auto', messages, reasoning: 'deep', stream: 'yes' }), ['yes', 'deep']);
    assert.deepEqual(await shown({ model: null, messages: 7 }), [null, 7]);
    assert.deepEqual(await shown({ model: 'm', messages: ['x'.repeat(201)] }), [undefined]);
    assert.deepEqual(await shown({ model: ['m'], messages: { role: 'user' } }), [undefined, undefined]);
    assert.deepEqual(await shown('{"model":1e999,"messages":[]}'), [undefined]);
    assert.deepEqual(await shown({}), [undefined, undefined]);
  });

  it('accepts numbers and strings that only the provider must be able to hold', async () => {
    const body = '{"model":"m","messages":[],"seed":1e999,"user":"\\ud800","big":123456789012345678901234567890}';
    assert.ok(E.isRight(await read(body)));
  });

  it('refuses a body that is not JSON, or no object', async () => {
    for (const text of ['', '{', '{"a":1}x', "{'a':1}", '\ufeff{}', '{"a":01}'])
      assert.equal((await refused(text)).code, 'malformed-json', text);
    const notUtf8 = await read(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]));
    assert.equal(E.isLeft(notUtf8) && notUtf8.left.code, 'invalid-encoding');
    for (const text of ['[]', '"x"', 'null', '7']) assert.equal((await refused(text)).code, 'invalid-input', text);
    assert.equal((await refused(`{"a":${'['.repeat(300)}`)).code, 'nesting-too-deep');
  });

  it('checks the last of repeated messages members for roles and contents', async () => {
    assert.deepEqual(await places('{"model":"m","messages":[{}],"messages":[{"role":"user"},7]}'), [
      '/messages/1 must be an object',
    ]);
    assert.ok(E.isRight(await read('{"model":"m","messages":[{}],"messages":[{"role":1,"\\u0072ole":"user"}]}')));
    assert.deepEqual(await places('{"model":"m","messages":[{"role":"a","role":1,"nested":{"role":"b"}},["role"]]}'), [
      '/messages/0/role must be a string',
      '/messages/1 must be an object',
    ]);
  });

  it('accepts the maximum of values and reports the first one beyond it', async () => {
    const body = (values: number) => `{"model":"m","messages":[],"a":{"b/c":[${Array(values).fill('{}').join(',')}]}}`;
    assert.ok(E.isRight(await read(body(maxValues - 5))));
    const { code, errors } = await refused(body(maxValues - 4));
    assert.equal(code, 'too-many-values');
    assert.deepEqual(
      errors?.map(({ pointer }) => pointer),
      [`/a/b~1c/${maxValues - 5}`],
    );
  });

  it('accepts a hundred repetitions of the members that the gateway reads, and no more', async () => {
    const models = (times: number) => `{"messages":[],${Array(times).fill('"model":"m"').join(',')}}`;
    assert.ok(E.isRight(await read(models(99))));
    assert.match(String(await places(models(100))), /^\/model comes too often/);
    const usages = Array(101).fill('"include_usage":true').join(',');
    const options = `{"model":"m","messages":[],"stream_options":{${usages}}}`;
    assert.match(String(await places(options)), /^\/stream_options\/include_usage comes too often/);
  });
});
