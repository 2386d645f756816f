import assert from 'node:assert/strict';
import * as E from 'fp-ts/lib/Either.js';
import { readMessage } from '#mcp/endpoint/read-message.ts';
import type { JsonObject } from '#shared/json/json.ts';

const call = (params: JsonObject, method = 'tools/call') => {
  const read = readMessage({ jsonrpc: '2.0', id: 7, method, params });
  return E.isRight(read) ? read.right : read.left.code;
};
const taken = (read: ReturnType<typeof call>) => (typeof read === 'string' ? assert.fail(read) : read);
const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, 1]));

describe('readMessage', () => {
  it('takes the arguments of a tool out of the message, however many they are', () => {
    const given = many(45_000);
    const read = taken(call({ name: 'list_flows', arguments: given, _meta: { a: 1 } }));
    assert.deepEqual(read.message.params, { name: 'list_flows', arguments: {}, _meta: { a: 1 } });
    assert.equal(read.toolArguments, given);
  });

  it('leaves arguments that are not an object, and those of prompts, in the message', () => {
    const odd = taken(call({ name: 'list_flows', arguments: [1] }));
    assert.deepEqual([odd.message.params, odd.toolArguments], [{ name: 'list_flows', arguments: [1] }, {}]);
    const prompt = taken(call({ name: 'a', arguments: { b: 'c' } }, 'prompts/get'));
    assert.deepEqual(prompt.message.params, { name: 'a', arguments: { b: 'c' } });
  });

  it('refuses a message with many other values, at any depth', () => {
    taken(call({ name: 'a', _meta: many(1_900) }));
    const deep = { a: { b: [many(1_000), many(1_000)] } };
    assert.equal(call({ name: 'a', _meta: deep }), 'too-many-values');
    assert.equal(call({ arguments: many(2_100) }, 'prompts/get'), 'too-many-values');
  });
});
