import assert from 'node:assert/strict';
import fc from 'fast-check';
import * as E from 'fp-ts/lib/Either.js';
import { readChatRequest, readJsonRequest } from '../../src/gateway/chat-request.ts';

const refused = (body: unknown) => {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const read = readChatRequest(Buffer.from(text));
  return E.isLeft(read) ? read.left : assert.fail(`${text} is taken`);
};

const places = (body: unknown) => (refused(body).errors ?? []).map(({ pointer, message }) => `${pointer} ${message}`);

describe('chat request', () => {
  const messages = [{ role: 'user', content: 'hi' }];

  it('is read as far as a relay needs it', () => {
    const read = readChatRequest(Buffer.from('{"model":"m","messages":[],"stream":null,"n":2,"reasoning":7}'));
    assert.ok(E.isRight(read));
    const { model, stream, choices } = read.right;
    assert.deepEqual({ model, stream, choices }, { model: 'm', stream: false, choices: 2 });
  });

  it('takes content of any kind that is text, parts, null or absent', () => {
    for (const content of ['', null, undefined, [], [{ type: 'image_url' }]])
      assert.ok(
        E.isRight(readChatRequest(Buffer.from(JSON.stringify({ model: 'm', messages: [{ role: 'x', content }] })))),
      );
  });

  it('tells every fault with its place', () => {
    assert.deepEqual(places({}), ['/model is required', '/messages is required']);
    assert.deepEqual(places({ model: 7, messages: {} }), ['/model must be a string', '/messages must be an array']);
    assert.deepEqual(places({ model: 'm', messages: [{}, 'x', { role: 1, content: 5 }] }), [
      '/messages/0/role is required',
      '/messages/1 must be an object',
      '/messages/2/role must be a string',
      '/messages/2/content must be a string or a list of content parts',
    ]);
    assert.deepEqual(places({ model: 'm', messages, stream: 'yes' }), ['/stream must be true or false']);
    assert.deepEqual(places({ model: 'auto', messages, reasoning: 'deep' }), [
      '/reasoning must be one of "fast", "balanced", "smart", "turbo"',
    ]);
    assert.equal(places({ model: 'm', messages: Array(500).fill({}) }).length, 100);
  });

  it('shows the value that is not valid where it is short, and sends no prompt back', () => {
    const shown = (body: unknown) => (refused(body).errors ?? []).map(({ input }) => input);
    assert.deepEqual(shown({ model: 'auto', messages, reasoning: 'deep', stream: 'yes' }), ['yes', 'deep']);
    assert.deepEqual(shown({ model: null, messages: 7 }), [null, 7]);
    assert.deepEqual(shown({ model: 'm', messages: ['x'.repeat(201)] }), [undefined]);
    assert.deepEqual(shown({ model: ['m'], messages: { role: 'user' } }), [undefined, undefined]);
    assert.deepEqual(shown('{"model":1e999,"messages":[]}'), [undefined]);
    assert.deepEqual(shown({}), [undefined, undefined]);
  });

  it('takes numbers and strings that only the provider has to hold', () => {
    const body = '{"model":"m","messages":[],"seed":1e999,"user":"\\ud800","big":123456789012345678901234567890}';
    assert.ok(E.isRight(readChatRequest(Buffer.from(body))));
  });

  it('refuses what is no JSON, or no object', () => {
    for (const text of ['', '{', '{"a":1}x', "{'a':1}", '\ufeff{}', '{"a":01}'])
      assert.equal(refused(text).code, 'malformed-json', text);
    const notUtf8 = readChatRequest(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]));
    assert.equal(E.isLeft(notUtf8) && notUtf8.left.code, 'invalid-encoding');
    for (const text of ['[]', '"x"', 'null', '7']) assert.equal(refused(text).code, 'invalid-input', text);
    assert.equal(refused(`{"a":${'['.repeat(300)}`).code, 'nesting-too-deep');
  });

  it('reads every JSON object that JSON.parse reads', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        const wrapped = `{"a":${text}}`;
        const read = readJsonRequest(Buffer.from(wrapped));
        assert.ok(E.isRight(read));
        assert.deepEqual(read.right.value, JSON.parse(wrapped));
      }),
    );
  });
});
