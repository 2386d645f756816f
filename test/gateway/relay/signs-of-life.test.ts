import assert from 'node:assert/strict';
import {
  type Behaviour,
  chunk,
  done,
  FakeProvider,
  role,
  saying,
  stop,
  stream,
  words,
} from '#test/gateway/support/fake-provider.ts';
import { type GatewayService, post, startGateway } from '#test/gateway/support/gateway-service.ts';
import { movedTime } from '#test/gateway/support/moved-time.ts';

import { eventsOf } from '#test/gateway/support/strict-messages.ts';
import { eventsOfResponse, openAiResponse, outputMessage } from '#test/gateway/support/strict-responses.ts';

const eventStream = { 'content-type': 'text/event-stream' };

/** What a provider of a protocol sends. */
interface Script {
  /** Before any part of the answer. */
  readonly opening: string;
  /** The beginning of a part without content; null if the protocol has none. */
  readonly begin: string | null;
  readonly signs: Readonly<Record<string, string>>;
  /** Those that only a part has. */
  readonly signsOfPart: Readonly<Record<string, string>>;
  /** An answer that says `late`, after the opening and the beginning. */
  readonly rest: string;
}

const event = (type: string, members: object = {}) =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`;

const thinking = { type: 'thinking', thinking: '', signature: '' };
const [messageStart = '', ...restOfMessage] = eventsOf({
  ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'x', content: [{ type: 'text', text: 'latelate' }] },
  ...{ stop_reason: 'end_turn', stop_sequence: null, usage: { input_tokens: 3, output_tokens: 4 } },
});
const [responseCreated = '', ...restOfResponse] = eventsOfResponse(openAiResponse([outputMessage('latelate')]));

const scripts = {
  chat: {
    opening: role,
    begin: null,
    signs: {
      'a comment': ': OPENROUTER PROCESSING\n\n',
      'a line without the end of its event': ': keep-alive\n',
      'an empty delta': chunk({ content: '' }),
    },
    signsOfPart: {},
    rest: [...words('late'), stop, done].join(''),
  },
  messages: {
    opening: messageStart,
    begin: event('content_block_start', { index: 0, content_block: thinking }),
    signs: {
      'a ping': event('ping'),
      'an unknown event': event('thinking_progress', { percent: 1 }),
    },
    signsOfPart: {
      'an empty delta': event('content_block_delta', { index: 0, delta: { type: 'thinking_delta', thinking: '' } }),
    },
    rest: restOfMessage.join(''),
  },
  responses: {
    opening: responseCreated,
    begin: event('response.output_item.added', {
      output_index: 0,
      item: { id: 'rs_1', type: 'reasoning', summary: [] },
    }),
    signs: {
      'a keepalive': event('keepalive', { sequence_number: 2 }),
    },
    signsOfPart: {
      'an empty delta': event('response.reasoning_summary_text.delta', { item_id: 'rs_1', delta: '' }),
    },
    rest: restOfResponse.join(''),
  },
} as const satisfies Readonly<Record<string, Script>>;

const call = (members: object) => chunk({ tool_calls: [{ index: 0, ...members }] });
const endOfCall = [call({ function: { name: 'late', arguments: '{}' } }), chunk({}, 'tool_calls'), done].join('');

/** Deltas of a chat that show nothing, and the rest of the answer if it depends on them. */
const hiddenParts: Readonly<Record<string, readonly [delta: string, rest?: string]>> = {
  'encrypted reasoning': [chunk({ reasoning_details: [{ type: 'reasoning.encrypted', data: 'AAAA', index: 0 }] })],
  'redacted thinking': [chunk({ content: [{ type: 'redacted_thinking', data: 'AAAA' }] })],
  'a reference': [chunk({ content: [{ type: 'reference', reference_ids: [1] }] })],
  'a call without a name': [call({ id: 'call_1' }), endOfCall],
};

const pairs: ReadonlyArray<readonly [client: string, provider: keyof typeof scripts]> = [
  ['/v1/chat/completions', 'chat'],
  ['/v1/messages', 'chat'],
  ['/v1/responses', 'chat'],
  ['/v1/responses', 'responses'],
  ['/v1/messages', 'messages'],
  ['/v1/chat/completions', 'messages'],
  ['/v1/responses', 'messages'],
  ['/v1/chat/completions', 'responses'],
  ['/v1/messages', 'responses'],
];

describe('Signs of life', () => {
  const time = movedTime();
  let primary: FakeProvider;
  let backup: FakeProvider;
  let service: GatewayService;

  before(async () => {
    [primary, backup] = await Promise.all([FakeProvider.start(), FakeProvider.start()]);
    backup.answers(stream(saying('from the backup')));
    const model = (provider: string, protocol?: string) => ({
      targets: [{ provider, model: 'x', protocol }],
      fallbacks: [{ provider: 'backup', model: 'y' }],
    });
    service = await startGateway({
      providers: {
        chat: { kind: 'openai-compatible', baseUrl: primary.baseUrl },
        responses: { kind: 'openai-compatible', baseUrl: primary.baseUrl, responses: true },
        messages: { kind: 'anthropic', baseUrl: primary.baseUrl },
        backup: { kind: 'openai-compatible', baseUrl: backup.baseUrl },
      },
      models: { chat: model('chat'), responses: model('responses', 'openai-responses'), messages: model('messages') },
    });
  });
  after(async () => {
    await service.stop();
    await Promise.all([primary.stop(), backup.stop()]);
  });

  /** Sends signs of life, one every 50 s, and then the rest of an answer. */
  const signing =
    (first: string, sign: string, times: number, rest: string): Behaviour =>
    async (res) => {
      res.writeHead(200, eventStream).write(first);
      for (let sent = 0; sent < times && !res.destroyed; sent += 1) {
        res.write(sign);
        await time.pass(50_000);
      }
      res.end(rest);
    };

  const ask = async (client: string, model: string) => {
    const input = client === '/v1/responses' ? { input: 'hi' } : { messages: [{ role: 'user', content: 'hi' }] };
    const { text } = await post(service, client, { model, stream: true, max_tokens: 9, ...input });
    return { isLate: text.includes('late'), isFromBackup: text.includes('from the backup') };
  };
  const fromPrimary = { isLate: true, isFromBackup: false };
  const fromBackup = { isLate: false, isFromBackup: true };

  for (const [client, provider] of pairs)
    if (provider === 'chat')
      for (const [what, [delta, rest = scripts.chat.rest]] of Object.entries(hiddenParts))
        it(`of a provider of chat at ${client} keep it once a part has begun that shows nothing: ${what}`, async () => {
          primary.answers(signing(role + delta, scripts.chat.signs['a comment'], 8, rest));
          assert.deepEqual(await ask(client, provider), fromPrimary);
        });

  for (const [client, provider] of pairs) {
    const { opening, begin, signs, signsOfPart, rest }: Script = scripts[provider];
    for (const [what, sign] of Object.entries(signs))
      it(`of a provider of ${provider} at ${client} keep it for three times the wait for content: ${what}`, async () => {
        primary.answers(signing(opening, sign, 3, rest));
        assert.deepEqual(await ask(client, provider), fromPrimary);
        primary.answers(signing(opening, sign, 5, rest));
        assert.deepEqual(await ask(client, provider), fromBackup);
      });

    for (const [what, sign] of Object.entries({ ...signs, ...signsOfPart }))
      if (what !== 'an unknown event')
        it(`of a provider of ${provider} at ${client} may come any number of times: ${what}`, async () => {
          const first = opening + (begin ?? '');
          for (const flood of [first + sign.repeat(40_000), sign.repeat(40_000) + first]) {
            primary.answers((res) => void res.writeHead(200, eventStream).end(`${flood}${rest}`));
            assert.deepEqual(await ask(client, provider), fromPrimary);
          }
        });

    if (begin !== null)
      for (const [what, sign] of Object.entries({ ...signs, ...signsOfPart }))
        it(`of a provider of ${provider} at ${client} keep it once a part has begun: ${what}`, async () => {
          primary.answers(signing(opening + begin, sign, 8, rest));
          assert.deepEqual(await ask(client, provider), fromPrimary);
          primary.answers(signing(opening + begin, sign, 13, rest));
          assert.deepEqual(await ask(client, provider), fromBackup);
        });
  }
});
