import assert from 'node:assert/strict';
import { createLineCaller } from '#gateway/batch/line-caller.ts';
import { callIdForMessages, callIdForResponses } from '#gateway/protocols/call-id-rules.ts';
import { idWithState, readCallId, stateMark } from '#gateway/protocols/call-state.ts';
import {
  type Behaviour,
  completion,
  error,
  FakeProvider,
  json,
  saying,
  stream,
} from '#test/gateway/support/fake-provider.ts';
import { type GatewayService, post, startGateway, usualLimits } from '#test/gateway/support/gateway-service.ts';
import { openAiResponse, outputMessage } from '#test/gateway/support/strict-responses.ts';
import { caller, goodKey } from '#test/http/support/fake-service.ts';

const signature = {
  of: 'chats/gpt-x',
  value: JSON.stringify({ google: { thought_signature: 'c2ln' } }),
  isRedacted: true,
};
const echoed = idWithState('call_1', signature);
const object = { type: 'object', properties: {} };

/** A request of each protocol whose client echoes the id of a call. */
const requests = {
  '/v1/chat/completions': {
    tools: [{ type: 'function', function: { name: 'look', parameters: object } }],
    messages: [
      { role: 'user', content: 'hi' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: echoed, type: 'function', function: { name: 'look', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: echoed, content: 'ok' },
    ],
  },
  '/v1/messages': {
    max_tokens: 9,
    tools: [{ name: 'look', input_schema: object }],
    messages: [
      { role: 'user', content: 'hi' },
      { role: 'assistant', content: [{ type: 'tool_use', id: echoed, name: 'look', input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: echoed, content: 'ok' }] },
    ],
  },
  '/v1/responses': {
    store: false,
    tools: [{ type: 'function', name: 'look', parameters: object }],
    input: [
      { role: 'user', content: 'hi' },
      { type: 'function_call', call_id: echoed, name: 'look', arguments: '{}' },
      { type: 'function_call_output', call_id: echoed, output: 'ok' },
    ],
  },
} as const;
type Path = keyof typeof requests;

const message = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'c',
  stop_reason: 'end_turn',
  stop_sequence: null,
};

describe('the state in the id of a call', () => {
  let chats: FakeProvider;
  let anthropic: FakeProvider;
  let openai: FakeProvider;
  let service: GatewayService;
  const all = () => [chats, anthropic, openai];
  const sent = () => all().flatMap(({ seen }) => seen.map(({ body }) => body.toString()));

  const targets = [
    { provider: 'chats', model: 'gpt-x' },
    { provider: 'anthropic', model: 'claude-x' },
    { provider: 'openai', model: 'gpt-y', protocol: 'openai-responses' },
  ];
  before(async () => {
    [chats, anthropic, openai] = await Promise.all([FakeProvider.start(), FakeProvider.start(), FakeProvider.start()]);
  });
  after(() => Promise.all(all().map((provider) => provider.stop())));
  beforeEach(async () => {
    for (const provider of all()) provider.answers(error(503, 'overloaded'));
    service = await startGateway({
      providers: {
        chats: { kind: 'openai-compatible', baseUrl: chats.baseUrl },
        anthropic: { kind: 'anthropic', baseUrl: anthropic.baseUrl },
        openai: { kind: 'openai-compatible', baseUrl: openai.baseUrl, responses: true, hostedTools: true },
      },
      models: Object.fromEntries(
        targets.map((target, index) => [
          target.provider,
          { targets: [target], fallbacks: targets.filter((_, other) => other !== index), retries: 0 },
        ]),
      ),
    });
  });
  afterEach(() => service.stop());

  for (const path of Object.keys(requests) as ReadonlyArray<Path>)
    for (const { provider } of targets)
      for (const isStreamed of [false, true])
        it(`given a request of ${path} for ${provider}, ${isStreamed ? 'streamed' : 'whole'}, when it falls back to each other provider then none of them gets it`, async () => {
          await post(service, path, { ...requests[path], model: provider, stream: isStreamed });
          assert.deepEqual(
            all().map(({ seen }) => seen.length),
            [1, 1, 1],
          );
          for (const body of sent()) {
            assert.ok(!body.includes(stateMark), body);
            assert.equal(body.split('"call_1"').length, 3, 'the call and its result have the id alone');
          }
        });

  it('given a line of a batch then its provider does not get it', async () => {
    const request = { batchId: 'batch_1', caller, idempotencyKey: 'k', signal: new AbortController().signal };
    for (const endpoint of Object.keys(requests) as ReadonlyArray<Path>) {
      const body = Buffer.from(JSON.stringify({ ...requests[endpoint], model: 'chats' }));
      await createLineCaller(service.gateway, usualLimits).call({ customId: 'l', body }, { ...request, endpoint });
    }
    assert.ok(sent().length >= 3);
    for (const body of sent()) assert.ok(!body.includes(stateMark), body);
  });

  it('given a request that counts tokens then its provider does not get it', async () => {
    anthropic.answers(json({ input_tokens: 5 }));
    const { max_tokens: _, ...counted } = requests['/v1/messages'];
    const answer = await post(service, '/v1/messages/count_tokens', { ...counted, model: 'anthropic' });
    assert.equal(answer.status, 200);
    assert.equal(sent().length, 1);
    assert.ok(!sent()[0]?.includes(stateMark));
  });

  it('given a response in the background then its provider does not get it', async () => {
    openai.answers(json(openAiResponse([], { background: true, store: true, status: 'queued', usage: null })));
    const body = { ...requests['/v1/responses'], store: true, background: true, model: 'openai' };
    assert.equal((await post(service, '/v1/responses', body)).status, 200);
    assert.ok(sent().length > 0);
    for (const each of sent()) assert.ok(!each.includes(stateMark), each);
  });

  describe('and an id that its next provider refuses', () => {
    const requestWith = (path: Path, id: string) => JSON.parse(JSON.stringify(requests[path]).replaceAll(echoed, id));
    const lastTo = ({ seen }: FakeProvider) => seen.at(-1)?.body.toString() ?? '';

    for (const id of ['functions.look:0', idWithState('functions.look:0', signature)])
      it(`given ${id === 'functions.look:0' ? 'none' : 'a state'} in it then Anthropic gets another one, however it gets the request, and to count tokens`, async () => {
        const derived = callIdForMessages('functions.look:0');
        const { max_tokens: _, ...counted } = requestWith('/v1/messages', id);
        await post(service, '/v1/messages/count_tokens', { ...counted, model: 'anthropic' });
        const bodies = [lastTo(anthropic)];
        for (const path of Object.keys(requests) as ReadonlyArray<Path>) {
          await post(service, path, { ...requestWith(path, id), model: 'anthropic' });
          bodies.push(lastTo(anthropic));
        }
        for (const body of bodies) {
          assert.equal(body.split(`"${derived}"`).length, 3, body);
          assert.ok(!body.includes('functions.look'), body);
        }
      });

    it('then a target of Responses gets another one, also of a stored turn', async () => {
      const long = `functions.${'look'.repeat(14)}:0`;
      const derived = callIdForResponses(long);
      for (const provider of all()) provider.answers(json(completion('stored')));
      const body = { ...requestWith('/v1/responses', long), store: true, model: 'chats' };
      const { id } = JSON.parse((await post(service, '/v1/responses', body)).text);
      openai.answers((res, seen) => json(openAiResponse([outputMessage('ok')]))(res, seen));
      await post(service, '/v1/responses', { model: 'openai', input: 'more', previous_response_id: id });
      const continued = lastTo(openai);
      await post(service, '/v1/responses', { ...requestWith('/v1/responses', long), model: 'openai' });
      for (const sentBody of [continued, lastTo(openai)])
        assert.equal(sentBody.split(`"call_id":"${derived}"`).length, 3, sentBody);
    });
  });

  describe('of a stored response that is continued', () => {
    const continuing: Behaviour = (res, seen) => json(openAiResponse([outputMessage('ok')]))(res, seen);
    /** Stores a turn whose input has the call and its result. */
    const store = async () => {
      for (const provider of all()) provider.answers(json(completion('stored')));
      const body = { ...requests['/v1/responses'], store: true, model: 'chats' };
      const { status, text } = await post(service, '/v1/responses', body);
      assert.equal(status, 200);
      return JSON.parse(text).id as string;
    };

    it('then a target of the same protocol gets the id alone, and the chat that made the state gets both', async () => {
      const id = await store();
      openai.answers(continuing);
      await post(service, '/v1/responses', { model: 'openai', input: 'more', previous_response_id: id });
      const native = openai.seen.at(-1)?.body.toString() ?? '';
      assert.equal(native.split('"call_id":"call_1"').length, 3, native);
      assert.ok(!native.includes(stateMark));
      chats.answers(json(completion('ok')));
      await post(service, '/v1/responses', { model: 'chats', input: 'more', previous_response_id: id });
      const translated = chats.seen.at(-1)?.body.toString() ?? '';
      assert.ok(translated.includes('"thought_signature":"c2ln"'), translated);
      assert.ok(!translated.includes(stateMark));
    });

    it('then an item that has it twice gets to its target with the ids alone', async () => {
      openai.answers(continuing);
      const type = 'local_shell_call_output';
      const outputs = [
        { type, id: echoed, call_id: echoed, output: 'a' },
        { type, call_id: echoed, output: 'b', id: echoed },
      ];
      const stored = await post(service, '/v1/responses', { model: 'openai', input: outputs });
      const { id } = JSON.parse(stored.text);
      await post(service, '/v1/responses', { model: 'openai', input: 'more', previous_response_id: id });
      const { input } = JSON.parse(openai.seen.at(-1)?.body.toString() ?? '{}');
      const ids = { id: 'call_1', call_id: 'call_1' };
      assert.deepEqual(
        input.slice(0, 2).map(({ id: itemId, call_id: callId }: typeof ids) => ({ id: itemId, call_id: callId })),
        [ids, ids],
      );
    });

    it('then an item that is named by its id gets to its target without it', async () => {
      const id = await store();
      const listed = await fetch(`${service.url}/v1/responses/${id}/input_items`, {
        headers: { 'x-api-key': goodKey },
      });
      const items = ((await listed.json()) as { data: ReadonlyArray<{ id: string; call_id?: string }> }).data;
      const named = items.filter(({ call_id: callId }) => callId !== undefined);
      assert.deepEqual(
        named.map(({ call_id: callId }) => callId),
        [echoed, echoed],
        'the client sees its own',
      );
      openai.answers(continuing);
      const input = [
        ...named.map((item) => ({ type: 'item_reference', id: item.id })),
        { role: 'user', content: 'hi' },
      ];
      await post(service, '/v1/responses', { model: 'openai', input: input.toReversed(), store: true });
      const native = openai.seen.at(-1)?.body.toString() ?? '';
      assert.equal(native.split('"call_id":"call_1"').length, 3, native);
      assert.ok(!native.includes(stateMark));
    });
  });

  describe('of a model that needs it back', () => {
    const call = {
      ...{ id: 'call_1', type: 'function', function: { name: 'look', arguments: '{}' } },
      extra_content: { google: { thought_signature: 'c2ln' } },
    };
    const calling: Behaviour = (res, seen) => {
      const isStreamed = JSON.parse(seen.body.toString()).stream === true;
      const chunk = (delta: object, finish: string | null) =>
        `data: ${JSON.stringify({ id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'g', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
      const pieces = [chunk({ role: 'assistant', tool_calls: [{ index: 0, ...call }] }, null), chunk({}, 'tool_calls')];
      const whole = completion('');
      const made = { role: 'assistant', content: null, tool_calls: [call] };
      return isStreamed
        ? stream([...pieces, 'data: [DONE]\n\n'])(res, seen)
        : json({ ...whole, choices: [{ index: 0, message: made, finish_reason: 'tool_calls' }] })(res, seen);
    };
    const idIn = (body: string) => /"(?:call_id|id)":"(call_1[^"]*)"/.exec(body)?.[1] ?? '';

    for (const path of ['/v1/messages', '/v1/responses'] as const)
      for (const isStreamed of [false, true])
        it(`given a client of ${path} that only echoes ids, ${isStreamed ? 'streamed' : 'whole'}, then the provider gets its signature again`, async () => {
          chats.answers(calling);
          const body = { ...requests[path], model: 'chats', stream: isStreamed };
          const answer = await post(service, path, body);
          const id = idIn(answer.text);
          assert.equal(readCallId(id).id, 'call_1');
          assert.notEqual(readCallId(id).state, null);
          chats.answers(isStreamed ? stream(saying('done')) : json(completion('done')));
          await post(service, path, JSON.parse(JSON.stringify(body).replaceAll(echoed, id)));
          const second = JSON.parse(chats.seen.at(-1)?.body.toString() ?? '{}');
          const [, asked, result] = second.messages;
          assert.deepEqual(asked.tool_calls, [call]);
          assert.equal(result.tool_call_id, 'call_1');
        });
  });

  it('given an answer of another provider then the state of the turns before stays with its maker', async () => {
    anthropic.answers(
      json({ ...message, content: [{ type: 'text', text: 'ok' }], usage: { input_tokens: 1, output_tokens: 1 } }),
    );
    await post(service, '/v1/responses', { ...requests['/v1/responses'], model: 'anthropic' });
    const [body = '', ...others] = sent();
    assert.deepEqual(others, []);
    assert.equal(body.split('"call_1"').length, 3, body);
    // Neither in an id nor as it was given.
    for (const mark of [stateMark, 'thought_signature']) assert.ok(!body.includes(mark), body);
  });
});
