import assert from 'node:assert/strict';
import * as E from 'fp-ts/lib/Either.js';
import { anthropicMessages } from '#gateway/protocols/anthropic-messages/anthropic-messages.ts';
import { openAiChat } from '#gateway/protocols/openai-chat/openai-chat.ts';
import { openAiResponses, responsesTextRequest } from '#gateway/protocols/openai-responses/openai-responses.ts';
import { readResponsesRequest } from '#gateway/protocols/openai-responses/responses-request.ts';
import type { TextProtocol, TextRequest } from '#gateway/protocols/protocol.ts';
import { plainTarget } from '#test/gateway/support/plain-target.ts';

/** A text that is no JSON text, and would end what is around it. */
const breaking = '{}}],"model":"other","max_tokens":64000,"messages":[{"role":"user","content":"x"}],"x":[{"y":{"z":"';

async function requestOf(name: string, body: string): Promise<TextRequest> {
  const bytes = Buffer.from(body);
  if (name === openAiResponses.name) {
    const read = await readResponsesRequest(bytes, 1_000_000);
    assert.ok(E.isRight(read), body);
    return responsesTextRequest({ ...read.right, before: null }, null);
  }
  const read = await (name === openAiChat.name ? openAiChat : anthropicMessages).client.read(bytes, 1_000_000);
  assert.ok(E.isRight(read), body);
  return read.right;
}

/** The body that a target gets; null if it is refused. */
async function sentTo({ provider }: TextProtocol, name: string, body: string): Promise<string | null> {
  const parsed = await (await requestOf(name, body)).parse(1_000_000);
  if (E.isLeft(parsed)) return null;
  const written = provider.write(parsed.right.conversation, plainTarget);
  return E.isRight(written) ? written.right.body.toString() : null;
}

const messages = '[{"role":"user","content":"hi"}]';
const result = '{"role":"tool","tool_call_id":"c","content":"ok"}';
/** Requests with a value at each path whose JSON text is kept. */
const requests: ReadonlyArray<readonly [string, string, (name: string, value: string) => string]> = [
  [
    openAiChat.name,
    'parameters',
    (name, value) =>
      `{"model":"a","messages":${messages},"tools":[{"type":"function","function":{"name":"f",${name}:${value}}}]}`,
  ],
  [
    openAiChat.name,
    'schema',
    (name, value) =>
      `{"model":"a","messages":${messages},"response_format":{"type":"json_schema","json_schema":{"name":"n",${name}:${value}}}}`,
  ],
  [
    openAiResponses.name,
    'parameters',
    (name, value) => `{"model":"a","input":"hi","tools":[{"type":"function","name":"f",${name}:${value}}]}`,
  ],
  [
    openAiResponses.name,
    'schema',
    (name, value) => `{"model":"a","input":"hi","text":{"format":{"type":"json_schema","name":"n",${name}:${value}}}}`,
  ],
  [
    anthropicMessages.name,
    'input_schema',
    (name, value) => `{"model":"a","max_tokens":9,"messages":${messages},"tools":[{"name":"f",${name}:${value}}]}`,
  ],
  [
    anthropicMessages.name,
    'input',
    (name, value) =>
      `{"model":"a","max_tokens":9,"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"f",${name}:${value}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c"}]}]}`,
  ],
  [
    anthropicMessages.name,
    'schema',
    (name, value) =>
      `{"model":"a","max_tokens":9,"messages":${messages},"output_config":{"format":{"type":"json_schema",${name}:${value}}}}`,
  ],
];
const kept = '{"type":"object","properties":{},"const":1.0,"most":12345678901234567890}';
const escaped = (name: string) => `"\\u00${name.charCodeAt(0).toString(16)}${name.slice(1)}"`;

describe('the JSON of a request that is moved as text', () => {
  for (const [protocol, member, bodyWith] of requests)
    for (const target of [openAiChat, anthropicMessages]) {
      it(`is never a text that the client chose, at ${member} of ${protocol} for a target of ${target.name}`, async () => {
        for (const name of [`"${member}"`, escaped(member)])
          for (const value of [JSON.stringify(breaking), '"0"', '"}}}}"']) {
            const sent = await sentTo(target, protocol, bodyWith(name, value));
            if (sent === null) continue;
            assert.equal(JSON.parse(sent).model, 'm', sent);
            assert.equal(sent.split('"model":"m"').length, 2, sent);
          }
      });

      it(`keeps its numbers as they are, at ${member} of ${protocol} for a target of ${target.name}`, async () => {
        for (const name of [`"${member}"`, escaped(member)]) {
          const sent = await sentTo(target, protocol, bodyWith(name, kept));
          assert.ok(String(sent).replaceAll('\\"', '"').includes(kept), String(sent));
        }
      });
    }

  it('is refused in arguments that have more values than a body may have', async () => {
    const given = JSON.stringify(`{"a":[${'{},'.repeat(300_000)}{}]}`);
    const call = `{"id":"c","type":"function","function":{"name":"f","arguments":${given}}}`;
    const body = `{"model":"a","messages":[{"role":"assistant","tool_calls":[${call}]},${result}]}`;
    assert.equal(await sentTo(anthropicMessages, openAiChat.name, body), null);
  });

  it('is refused in arguments that are nested more deeply than a body may be', async () => {
    const given = JSON.stringify(`{"a":${'['.repeat(300)}${']'.repeat(300)}}`);
    const call = `{"id":"c","type":"function","function":{"name":"f","arguments":${given}}}`;
    const body = `{"model":"a","messages":[{"role":"assistant","tool_calls":[${call}]},${result}]}`;
    assert.equal(await sentTo(anthropicMessages, openAiChat.name, body), null);
  });

  it('is refused beyond 8 MiB', async () => {
    const parsed = await (
      await requestOf(
        openAiChat.name,
        `{"model":"a","messages":${messages},"tools":[{"type":"function","function":{"name":"f","parameters":{"description":"${'x'.repeat(9_000_000)}"}}}]}`,
      )
    ).parse(1_000_000);
    assert.ok(E.isLeft(parsed));
    assert.match(JSON.stringify(parsed.left), /8388608 bytes/);
  });
});

describe('a message that refuses a request', () => {
  it('shows at most a hundred characters of a value', async () => {
    for (const body of [
      `{"model":"a","messages":[{"role":"${'r'.repeat(100_000)}","content":"x"}]}`,
      `{"model":"a","messages":[{"role":"user","content":[{"type":"${'r'.repeat(100_000)}"}]}]}`,
      `{"model":"a","messages":[{"role":"user","content":[{"type":["${'r'.repeat(100_000)}"]}]}]}`,
    ]) {
      const parsed = await (await requestOf(openAiChat.name, body)).parse(1_000_000);
      assert.ok(E.isLeft(parsed));
      assert.ok(JSON.stringify(parsed.left).length < 400);
    }
  });
});
