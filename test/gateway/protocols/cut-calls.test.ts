import assert from 'node:assert/strict';
import {
  bytes,
  chunk,
  completion,
  done,
  FakeProvider,
  json,
  saying,
  stream,
} from '#test/gateway/support/fake-provider.ts';
import { type GatewayService, post, startGateway } from '#test/gateway/support/gateway-service.ts';
import { eventsOf } from '#test/gateway/support/strict-messages.ts';
import { goodKey } from '#test/http/support/fake-service.ts';

const whole = '{"a":1}';
const cut = '{"path":"/etc/hos';

interface Item {
  readonly type: string;
  readonly status: string;
  readonly arguments: string;
}

/** A chat answer with one whole call and one that is cut off. */
function cutChat(reason: string): object {
  const callOf = (id: string, given: string) => ({
    id,
    type: 'function',
    function: { name: 'read', arguments: given },
  });
  const message = { role: 'assistant', content: 'Once', tool_calls: [callOf('c1', whole), callOf('c2', cut)] };
  return { ...completion(''), choices: [{ index: 0, message, finish_reason: reason }] };
}

/** The same as a stream. */
function cutChatEvents(reason: string): ReadonlyArray<string> {
  const callOf = (index: number, given: string) =>
    chunk({ tool_calls: [{ index, id: `c${index + 1}`, function: { name: 'read', arguments: given } }] });
  return [
    chunk({ content: 'Once' }),
    callOf(0, whole),
    callOf(1, cut.slice(0, 5)),
    continued(cut.slice(5)),
    chunk({}, reason),
    done,
  ];
}

const continued = (given: string) => chunk({ tool_calls: [{ index: 1, function: { arguments: given } }] });

/** A message of Anthropic with one whole call and one that is cut off. */
const cutMessage = (reason: string, second: unknown) => ({
  ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-x' },
  content: [
    { type: 'text', text: 'Once' },
    { type: 'tool_use', id: 'c1', name: 'read', input: JSON.parse(whole) },
    { type: 'tool_use', id: 'c2', name: 'read', input: second },
  ],
  ...{ stop_reason: reason, stop_sequence: null, usage: { input_tokens: 3, output_tokens: 4 } },
});

/** The data of events, whose form the test knows. */
function eventsIn(text: string): ReadonlyArray<ReturnType<typeof JSON.parse>> {
  const data = text.split('\n\n').flatMap((frame) => /^data: (.*)$/m.exec(frame)?.[1] ?? []);
  return data.flatMap((each) => (each === '[DONE]' ? [] : [JSON.parse(each)]));
}

describe('calls of tools that are cut off', () => {
  let chat: FakeProvider;
  let messages: FakeProvider;
  let backup: FakeProvider;
  let service: GatewayService;

  before(async () => {
    [chat, messages, backup] = await Promise.all([FakeProvider.start(), FakeProvider.start(), FakeProvider.start()]);
  });
  after(() => Promise.all([chat.stop(), messages.stop(), backup.stop()]));
  beforeEach(async () => {
    service = await startGateway({
      providers: {
        chat: { kind: 'openai-compatible', baseUrl: chat.baseUrl },
        messages: { kind: 'anthropic', baseUrl: messages.baseUrl, apiKeyEnv: 'PROVIDER_KEY' },
        backup: { kind: 'openai-compatible', baseUrl: backup.baseUrl },
      },
      models: {
        'on-chat': { targets: [{ provider: 'chat', model: 'gpt-x' }] },
        'on-messages': { targets: [{ provider: 'messages', model: 'claude-x' }] },
        safe: {
          targets: [{ provider: 'chat', model: 'gpt-x' }],
          fallbacks: [{ provider: 'backup', model: 'gpt-y' }],
        },
      },
    });
  });
  afterEach(() => service.stop());

  const ask = {
    chat: (model: string, isStreamed = false) =>
      post(service, '/v1/chat/completions', { model, messages: [{ role: 'user', content: 'hi' }], stream: isStreamed }),
    messages: (model: string, isStreamed = false) =>
      post(service, '/v1/messages', {
        ...{ model, max_tokens: 9, stream: isStreamed },
        messages: [{ role: 'user', content: 'hi' }],
      }),
    responses: (model: string, isStreamed = false) =>
      post(service, '/v1/responses', { model, input: 'hi', stream: isStreamed }),
  };

  describe('by the limit of tokens', () => {
    beforeEach(() => {
      chat.answers(json(cutChat('length')));
      messages.answers(json(cutMessage('max_tokens', {})));
    });

    it('are left out of a message', async () => {
      const { content, stop_reason: reason } = JSON.parse((await ask.messages('on-chat')).text);
      assert.deepEqual(content, [
        { type: 'text', text: 'Once' },
        { type: 'tool_use', id: 'c1', name: 'read', input: { a: 1 } },
      ]);
      assert.equal(reason, 'max_tokens');
    });

    it('are left out of a chat', async () => {
      const [choice] = JSON.parse((await ask.chat('on-messages')).text).choices;
      assert.deepEqual(choice.message.tool_calls, [
        { id: 'c1', type: 'function', function: { name: 'read', arguments: whole } },
      ]);
      assert.equal(choice.finish_reason, 'length');
    });

    it('are left out of a response', async () => {
      const { output, status } = JSON.parse((await ask.responses('on-chat')).text);
      assert.deepEqual(
        output.map((item: Item) => [item.type, item.status, item.arguments]),
        [
          ['message', 'completed', undefined],
          ['function_call', 'completed', whole],
        ],
      );
      assert.equal(status, 'incomplete');
    });

    it('end in a stream of messages with the answer', async () => {
      chat.answers(stream(cutChatEvents('length')));
      const events = eventsIn((await ask.messages('on-chat', true)).text);
      assert.deepEqual(
        events.slice(-4).map(({ type, delta }) => [type, delta?.stop_reason]),
        [
          ['content_block_delta', undefined],
          ['content_block_stop', undefined],
          ['message_delta', 'max_tokens'],
          ['message_stop', undefined],
        ],
      );
    });

    it('end in a stream of chats with the answer', async () => {
      messages.answers(stream(eventsOf(cutMessage('max_tokens', cut))));
      const chunks = eventsIn((await ask.chat('on-messages', true)).text);
      assert.equal(chunks.at(-1).choices[0].finish_reason, 'length');
    });

    it('are incomplete in a stream of Responses, and are not in its last object, which is stored', async () => {
      chat.answers(stream(cutChatEvents('length')));
      const events = eventsIn((await ask.responses('on-chat', true)).text);
      const items = events.filter(({ type }) => type === 'response.output_item.done').map(({ item }) => item);
      assert.deepEqual(
        items.map(({ type, status, arguments: given }) => [type, status, given]),
        [
          ['message', 'completed', undefined],
          ['function_call', 'completed', whole],
          ['function_call', 'incomplete', cut],
        ],
      );
      const done = events.filter(({ type }) => type === 'response.function_call_arguments.done');
      assert.deepEqual(
        done.map(({ arguments: given }) => given),
        [whole],
      );
      const last = events.at(-1);
      assert.equal(last.type, 'response.incomplete');
      assert.deepEqual(last.response.output, items.slice(0, 2));
      const stored = await fetch(`${service.url}/v1/responses/${last.response.id}`, {
        headers: { authorization: `Bearer ${goodKey}` },
      });
      assert.deepEqual(JSON.parse(await stored.text()).output, items.slice(0, 2));
    });

    it('have no free text in a stream of Responses', async () => {
      const call = (given: string, id?: string) =>
        chunk({
          tool_calls: [{ index: 0, ...(id && { id }), function: { ...(id && { name: 'patch' }), arguments: given } }],
        });
      chat.answers(stream([call('{"input":"a', 'c1'), call('b'), chunk({}, 'length'), done]));
      const body = { model: 'on-chat', input: 'hi', stream: true, tools: [{ type: 'custom', name: 'patch' }] };
      const events = eventsIn((await post(service, '/v1/responses', body)).text);
      const { item } = events.find(({ type }) => type === 'response.output_item.done');
      assert.deepEqual([item.type, item.status, item.input], ['custom_tool_call', 'incomplete', '']);
      assert.ok(!events.some(({ type }) => String(type).startsWith('response.custom_tool_call_input')));
    });
  });

  for (const reason of ['stop', 'tool_calls', 'content_filter'])
    describe(`for another reason: ${reason}`, () => {
      beforeEach(() => backup.answers(json(completion('from the backup'))));

      for (const client of ['messages', 'responses'] as const)
        for (const isStreamed of [false, true])
          it(`are an error for a client of ${client}, ${isStreamed ? 'streamed' : 'whole'}`, async () => {
            chat.answers(isStreamed ? stream(cutChatEvents(reason), { gapMs: 20 }) : json(cutChat(reason)));
            const { status, text } = await ask[client]('on-chat', isStreamed);
            assert.equal(status, isStreamed ? 200 : 502);
            assert.match(text, /error/);
            assert.doesNotMatch(text, /message_stop|response\.completed|response\.incomplete/);
            assert.equal(service.records[0]?.outcome, isStreamed ? 'broken-off' : 'failed');
          });

      it('let a fallback serve before anything was sent', async () => {
        chat.answers(json(cutChat(reason)));
        assert.match((await ask.messages('safe')).text, /from the backup/);
        chat.answers(bytes(cutChatEvents(reason).join(''), { 'content-type': 'text/event-stream' }));
        backup.answers(stream(saying('from the backup')));
        const { text } = await ask.messages('safe', true);
        assert.match(text, /from the backup.*message_stop/s);
        assert.doesNotMatch(text, /tool_use/);
      });
    });

  it('are an error for a client of chats, too', async () => {
    messages.answers(stream(eventsOf(cutMessage('tool_use', cut)), { gapMs: 20 }));
    const { text } = await ask.chat('on-messages', true);
    assert.match(text, /"error"/);
    assert.doesNotMatch(text, /finish_reason":"/);
  });

  it('do not hold a call back that is whole', async () => {
    const { promise: isRead, resolve } = Promise.withResolvers<void>();
    const [text, first, second, rest, ...end] = cutChatEvents('tool_calls');
    chat.answers(async (res, seen) => {
      await stream([text, first, second].map(String), { after: 'stall' })(res, seen);
      await isRead;
      res.end([rest, continued('ts"}'), ...end].join(''));
    });
    const answer = await fetch(`${service.url}/v1/messages`, {
      method: 'POST',
      headers: { authorization: `Bearer ${goodKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'on-chat',
        max_tokens: 9,
        stream: true,
        messages: [{ role: 'user', content: 'hi' }],
      }),
    });
    let read = '';
    for await (const piece of answer.body ?? []) {
      read += Buffer.from(piece).toString();
      // The second call has begun, with a piece of its arguments, before its provider sends more.
      if (read.includes('"id":"c2"') && read.includes('{\\"pat')) resolve();
    }
    assert.match(read, /tool_use.*tool_use.*message_stop/s);
  });
});
