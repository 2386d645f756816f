import assert from 'node:assert/strict';
import fc from 'fast-check';
import * as E from 'fp-ts/lib/Either.js';
import { anthropicMessages } from '#gateway/protocols/anthropic-messages/anthropic-messages.ts';
import { idWithState, stateMark } from '#gateway/protocols/call-state.ts';
import { openAiChat } from '#gateway/protocols/openai-chat/openai-chat.ts';
import { openAiResponses } from '#gateway/protocols/openai-responses/openai-responses.ts';
import type { ClientProtocol } from '#gateway/protocols/protocol.ts';
import { stateCutsIn } from '#gateway/protocols/state-cuts.ts';

const target = { model: 'a', provider: 'p', reasoning: false, hostedTools: true };
const state = (value: string) => ({ of: 'google/gemini', value, isRedacted: true });
const withState = (id: string, value = 'signature') => idWithState(id, state(value));

/** The body that a target of the same protocol gets. */
async function passed({ client }: ClientProtocol, body: string): Promise<string> {
  const read = await client.read(Buffer.from(body), 2_000_000);
  assert.ok(E.isRight(read), JSON.stringify(read));
  return read.right.changed({ target, asksUsage: false, continueFrom: null }).body.toString();
}

/** A request of each protocol with a call and its result; `more` is a text in it. */
const requests: ReadonlyArray<readonly [ClientProtocol, (id: string, more: string) => string]> = [
  [
    openAiChat,
    (id, more) =>
      `{"model":"a" ,"messages":[{"role":"user","content":${JSON.stringify(more)}},{"role":"assistant","tool_calls":[{"function":{"name":"f","arguments":"{\\"id\\":\\"${more}\\"}"}, "id": ${id} ,"type":"function"}]},{"role":"tool","tool_call_id":${id},"content":"ok"}], "metadata":{"id":"${more}"}}`,
  ],
  [
    anthropicMessages,
    (id, more) =>
      `{"model":"a","max_tokens":9, "messages":[{"role":"user","content":${JSON.stringify(more)}},{"role":"assistant","content":[{"type":"tool_use","id":${id},"name":"f","input":{"id":"${more}","tool_use_id":"${more}"}}]},{"role":"user","content":[ {"type":"tool_result","tool_use_id":${id} } ]}]}`,
  ],
  [
    openAiResponses,
    (id, more) =>
      `{"model":"a","store":false, "input":[{"role":"user","content":${JSON.stringify(more)}},{"type":"function_call","call_id":${id},"name":"f","arguments":"{\\"call_id\\":\\"${more}\\"}"},{"type":"function_call_output", "call_id" :${id},"output":"${more}"},{"type":"local_shell_call_output","id":${id},"output":"x"}]}`,
  ],
];

for (const [protocol, request] of requests)
  describe(`ids of calls in a request of ${protocol.name} that passes as it came`, () => {
    it('given ids with a state then it is cut out, and every other byte stays', async () => {
      const sent = await passed(protocol, request(JSON.stringify(withState('call_ü~1')), withState('x')));
      assert.equal(sent, request('"call_ü~1"', withState('x')));
    });

    it('given a state behind an escaped `~` then it is cut out', async () => {
      for (const escaped of ['\\u007e', '\\u007E']) {
        const id = JSON.stringify(withState('call_1')).replace('~', escaped);
        assert.equal(await passed(protocol, request(id, 'hi')), request('"call_1"', 'hi'));
      }
    });

    it('given a large request then the state is cut out wherever it is', async () => {
      const more = '~'.repeat(1_200_000);
      const sent = await passed(protocol, request(JSON.stringify(withState('c')), more));
      assert.equal(sent, request('"c"', more));
    });

    it('given ids that the gateway has not written then they pass', async () => {
      for (const id of [
        '"a~b"',
        '"~"',
        '"call_1~c3dpdGNoeWFyZDo"',
        `"${stateMark}"`,
        `"x${stateMark}!"`,
        '"\\u007e"',
        '""',
      ])
        assert.equal(await passed(protocol, request(id, 'hi')), request(id, 'hi'));
    });

    it('given any id and state then no target gets the state', () =>
      fc.assert(
        fc.asyncProperty(fc.string({ unit: 'grapheme' }), fc.string({ maxLength: 200 }), async (id, value) => {
          const sent = await passed(protocol, request(JSON.stringify(withState(id, value)), 'hi'));
          assert.deepEqual(JSON.parse(sent), JSON.parse(request(JSON.stringify(id), 'hi')));
        }),
        { numRuns: 50 },
      ));
  });

describe('ids of calls in a removed item of Responses', () => {
  it('given a state in foreign reasoning then the item is removed whole', async () => {
    const reasoning = {
      type: 'reasoning',
      encrypted_content: 'switchyard:elsewhere:0:secret',
      call_id: withState('c'),
    };
    const call = { type: 'function_call_output', call_id: withState('c'), output: 'ok' };
    const body = (input: ReadonlyArray<object>) => JSON.stringify({ model: 'a', store: false, input });
    const sent = await passed(openAiResponses, body([call, reasoning, call]));
    assert.equal(sent, body([call, call]).replaceAll(withState('c'), 'c'));
  });
});

describe('stateCutsIn', () => {
  it('given more ids with a state than are kept then it refuses them', async () => {
    const find = stateCutsIn('messages', [['tool_call_id']]);
    const id = JSON.stringify(withState('c', ''));
    const body = (count: number) =>
      Buffer.from(`{"messages":[${Array.from({ length: count }, () => `{"tool_call_id":${id}}`).join(',')}]}`);
    const found = await find(body(100_000));
    assert.ok(E.isRight(found) && found.right.length === 100_000);
    const refused = await find(body(100_001));
    assert.ok(E.isLeft(refused));
    assert.deepEqual(
      refused.left.errors?.map(({ pointer }) => pointer),
      ['/messages'],
    );
  });
});
