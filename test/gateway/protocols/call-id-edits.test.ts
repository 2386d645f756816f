import assert from 'node:assert/strict';
import fc from 'fast-check';
import * as E from 'fp-ts/lib/Either.js';
import { anthropicMessages } from '#gateway/protocols/anthropic-messages/anthropic-messages.ts';
import {
  anyCallId,
  callIdForMessages,
  callIdForResponses,
  type TakenCallId,
} from '#gateway/protocols/call-id-rules.ts';
import { idWithState, stateMark } from '#gateway/protocols/call-state.ts';
import { openAiChat } from '#gateway/protocols/openai-chat/openai-chat.ts';
import { openAiResponses } from '#gateway/protocols/openai-responses/openai-responses.ts';
import type { ClientProtocol } from '#gateway/protocols/protocol.ts';

const target = { model: 'a', provider: 'p', reasoning: false, hostedTools: true };
const state = (value: string) => ({ of: 'google/gemini', value, isRedacted: true });
const withState = (id: string, value = 'signature') => idWithState(id, state(value));

/** The body that a target of the same protocol gets. */
async function passed({ client }: ClientProtocol, body: string): Promise<string> {
  const read = await client.read(Buffer.from(body), 2_000_000);
  assert.ok(E.isRight(read), JSON.stringify(read));
  return read.right.changed({ target, asksUsage: false, continueFrom: null }).body.toString();
}

/** A request of each protocol with a call and its result, where `more` is a text in it, and the ids that pass. */
const requests: ReadonlyArray<readonly [ClientProtocol, (id: string, more: string) => string, TakenCallId]> = [
  [
    openAiChat,
    (id, more) =>
      `{"model":"a" ,"messages":[{"role":"user","content":${JSON.stringify(more)}},{"role":"assistant","tool_calls":[{"function":{"name":"f","arguments":"{\\"id\\":\\"${more}\\"}"}, "id": ${id} ,"type":"function"}]},{"role":"tool","tool_call_id":${id},"content":"ok"}], "metadata":{"id":"${more}"}}`,
    anyCallId,
  ],
  [
    anthropicMessages,
    (id, more) =>
      `{"model":"a","max_tokens":9, "messages":[{"role":"user","content":${JSON.stringify(more)}},{"role":"assistant","content":[{"type":"tool_use","id":${id},"name":"f","input":{"id":"${more}","tool_use_id":"${more}"}}]},{"role":"user","content":[ {"type":"tool_result","tool_use_id":${id} } ]}]}`,
    callIdForMessages,
  ],
  [
    openAiResponses,
    (id, more) =>
      `{"model":"a","store":false, "input":[{"role":"user","content":${JSON.stringify(more)}},{"type":"function_call","call_id":${id},"name":"f","arguments":"{\\"call_id\\":\\"${more}\\"}"},{"type":"function_call_output", "call_id" :${id},"output":"${more}"},{"type":"local_shell_call_output","id":${id},"output":"x"}]}`,
    callIdForResponses,
  ],
];

for (const [protocol, request, takenOf] of requests)
  describe(`ids of calls in a request of ${protocol.name} that passes as it came`, () => {
    it('given ids with a state then it is cut out, and every other byte stays', async () => {
      const sent = await passed(protocol, request(JSON.stringify(withState('call_ü~1')), withState('x')));
      assert.equal(sent, request(JSON.stringify(takenOf('call_ü~1')), withState('x')));
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

    /** The JSON of an id that passes. One that is not replaced keeps its bytes. */
    const passing = (id: string) => {
      const taken = takenOf(JSON.parse(id));
      return taken === JSON.parse(id) ? id : JSON.stringify(taken);
    };

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
        assert.equal(await passed(protocol, request(id, 'hi')), request(passing(id), 'hi'));
    });

    it('given any id and state then no target gets the state', () =>
      fc.assert(
        fc.asyncProperty(fc.string({ unit: 'grapheme' }), fc.string({ maxLength: 200 }), async (id, value) => {
          const sent = await passed(protocol, request(JSON.stringify(withState(id, value)), 'hi'));
          assert.deepEqual(JSON.parse(sent), JSON.parse(request(JSON.stringify(takenOf(id)), 'hi')));
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

describe('ids of calls that providers refuse', () => {
  const [, messages] = requests[1] ?? assert.fail();
  const [, responses] = requests[2] ?? assert.fail();

  it('given an id that Anthropic refuses then call and result get the same other one, with or without a state', async () => {
    const taken = callIdForMessages('functions.look:0');
    assert.match(taken, /^toolu_[0-9a-f]{24}$/);
    for (const id of ['functions.look:0', withState('functions.look:0')])
      assert.equal(
        await passed(anthropicMessages, messages(JSON.stringify(id), 'a.b:c')),
        messages(`"${taken}"`, 'a.b:c'),
      );
  });

  it('given an id that Anthropic takes then it keeps its bytes', async () => {
    for (const id of ['"toolu_1"', '"toolu\\u005f1"', `"${'a-_Z9'.repeat(100)}"`, 'null', '7', '["a.b"]'])
      assert.equal(await passed(anthropicMessages, messages(id, 'hi')), messages(id, 'hi'));
  });

  it('given an id of Responses that is too long then calls and results get another one, and items keep theirs', async () => {
    const long = `functions.${'a'.repeat(60)}:0`;
    const item = (id: string) =>
      `{"model":"a","store":false,"input":[{"type":"function_call","id":"${long}","call_id":"${id}","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"${id}","output":"ok"}]}`;
    assert.equal(await passed(openAiResponses, item(long)), item(callIdForResponses(long)));
    const longest = 'a'.repeat(64);
    assert.equal(await passed(openAiResponses, item(longest)), item(longest));
    assert.equal(
      await passed(openAiResponses, responses(JSON.stringify(withState('call_1')), long)),
      responses('"call_1"', long),
    );
  });

  it('given a chat then its ids pass, however long: each provider of chats has its own', async () => {
    const [protocol, chat] = requests[0] ?? assert.fail();
    const id = `"functions.${'a'.repeat(60)}:0"`;
    assert.equal(await passed(protocol, chat(id, 'hi')), chat(id, 'hi'));
  });

  it('given more ids to change than are kept then it refuses them', async () => {
    const block = `{"type":"tool_result","tool_use_id":"a.b"}`;
    const read = (count: number) =>
      anthropicMessages.client.read(
        Buffer.from(
          `{"model":"a","max_tokens":9,"messages":[{"role":"user","content":[${Array(count).fill(block).join(',')}]}]}`,
        ),
        2_000_000,
      );
    assert.ok(E.isRight(await read(100_000)));
    const refused = await read(100_001);
    assert.ok(E.isLeft(refused));
    assert.deepEqual(
      refused.left.errors?.map(({ pointer }) => pointer),
      ['/messages'],
    );
  });
});
