import assert from 'node:assert/strict';
import OpenAI, {
  APIError,
  AuthenticationError,
  BadRequestError,
  InternalServerError,
  NotFoundError,
  RateLimitError,
  toFile,
  UnprocessableEntityError,
} from 'openai';
import { GatewayStory, toolCallAnswer, toolCallDeltas } from '#test/e2e/support/gateway-scenario.ts';
import {
  bytes,
  chunk,
  completion,
  done,
  error,
  json,
  role,
  stop,
  stream,
  words,
} from '#test/gateway/support/fake-provider.ts';
import { adminKey, until } from '#test/support/service/service-process.ts';

/** OpenAI's own client, pointed at the service with one of its keys: it shall notice nothing but that it works. */
describe('the official openai client', function () {
  this.timeout(180_000);
  let story: GatewayStory;
  let client: OpenAI;
  /** The same, but that it does not try again by itself. */
  let once: OpenAI;
  const messages = [{ role: 'user' as const, content: 'Wann habt ihr offen? 😀' }];
  const tools = [
    {
      type: 'function' as const,
      function: {
        name: 'opening_hours',
        parameters: { type: 'object', properties: { day: { type: 'string' } }, required: ['day'] },
      },
    },
  ];

  before(async () => {
    story = await GatewayStory.begin();
    client = new OpenAI({ apiKey: adminKey, baseURL: story.baseURL });
    once = new OpenAI({ apiKey: adminKey, baseURL: story.baseURL, maxRetries: 0 });
  });
  after(() => story.end());
  beforeEach(() => {
    story.primary.answers(json(completion('from the primary')));
    story.backup.answers(json(completion('from the backup')));
  });

  const bodySeen = () => JSON.parse(String(story.primary.seen[0]?.body)) as Record<string, unknown>;
  /** What a call was refused with. */
  const refusalOf = async (call: Promise<unknown>): Promise<APIError> => {
    try {
      await call;
    } catch (refusal) {
      assert.ok(refusal instanceof APIError, String(refusal));
      return refusal;
    }
    return assert.fail('it was not refused');
  };

  describe('chat', () => {
    it('is answered whole, by whom the headers tell', async () => {
      const { data, response, request_id } = await client.chat.completions
        .create({ model: 'large', messages, temperature: 0.5, seed: 7 })
        .withResponse();
      assert.equal(data.choices[0]?.message.content, 'from the primary');
      assert.equal(data.model, 'gpt-x-2026');
      assert.deepEqual([data.usage?.prompt_tokens, data.usage?.completion_tokens], [5, 7]);
      assert.equal(response.headers.get('x-switchyard-target'), 'primary/gpt-x');
      assert.match(request_id ?? '', /^[\w-]{8,}$/);
      assert.deepEqual(bodySeen(), { model: 'gpt-x', messages, temperature: 0.5, seed: 7 });
    });

    it('is picked by the hint, which the provider does not see', async () => {
      const asked = { model: 'auto', messages, reasoning: 'fast' } as OpenAI.ChatCompletionCreateParamsNonStreaming;
      const answer = await client.chat.completions.create(asked);
      assert.equal(answer.model, 'switchyard-sandbox');
      assert.match(answer.choices[0]?.message.content ?? '', /Wann habt ihr offen\? 😀$/);
    });

    it('is streamed, with usage where that is asked for', async () => {
      const usage = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 };
      const last = `data: ${JSON.stringify({ id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'gpt-x', choices: [], usage })}\n\n`;
      story.primary.answers(stream([role, ...words('Grüß ', 'Gott 😀'), stop, last, done]));
      const answer = await client.chat.completions.create({
        model: 'large',
        messages,
        stream: true,
        stream_options: { include_usage: true },
      });
      let text = '';
      let told: unknown = null;
      for await (const { choices, usage: ofChunk } of answer) {
        text += choices[0]?.delta.content ?? '';
        told = ofChunk ?? told;
      }
      assert.equal(text, 'Grüß Gott 😀');
      assert.deepEqual(told, usage);
    });

    it('is streamed from the sandbox through the helper that puts answers together', async () => {
      const answer = await client.chat.completions.stream({ model: 'sandbox', messages }).finalChatCompletion();
      assert.match(
        answer.choices[0]?.message.content ?? '',
        /^This is the Switchyard sandbox and no model\. You said:/,
      );
      assert.equal(answer.choices[0]?.finish_reason, 'stop');
    });

    it('comes in as many choices from the sandbox as are asked for', async () => {
      const streaming = client.chat.completions.stream({ model: 'sandbox', messages, n: 3 });
      const streamed = await streaming.finalChatCompletion();
      const whole = await client.chat.completions.create({ model: 'sandbox', messages, n: 3 });
      for (const { choices } of [streamed, whole]) {
        assert.deepEqual(
          choices.map(({ index, finish_reason: reason }) => `${index} ${reason}`),
          ['0 stop', '1 stop', '2 stop'],
        );
        assert.equal(new Set(choices.map(({ message }) => message.content)).size, 1);
      }
    });

    it('calls tools, and is told what they gave', async () => {
      story.primary.answers(json(toolCallAnswer));
      const first = await client.chat.completions.create({ model: 'large', messages, tools });
      const message = first.choices[0]?.message ?? assert.fail('no choice');
      const [call] = message.tool_calls ?? [];
      assert.equal(call?.type === 'function' && call.function.arguments, '{"day":"Montag"}');
      assert.deepEqual(bodySeen().tools, tools);

      story.primary.answers(json(completion('Von neun bis fünf.')));
      const result = { role: 'tool' as const, tool_call_id: 'call_1', content: '9-17' };
      const second = await client.chat.completions.create({
        model: 'large',
        messages: [...messages, message, result],
        tools,
      });
      assert.equal(second.choices[0]?.message.content, 'Von neun bis fünf.');
      assert.deepEqual(bodySeen().messages, [...messages, message, result]);
    });

    it('calls tools in a stream', async () => {
      const deltas = toolCallDeltas.map((delta) => chunk(delta));
      story.primary.answers(stream([...deltas, chunk({}, 'tool_calls'), done], { gapMs: 1 }));
      const answer = await client.chat.completions.stream({ model: 'large', messages, tools }).finalChatCompletion();
      const [call] = answer.choices[0]?.message.tool_calls ?? [];
      assert.equal(call?.type === 'function' && call.function.name, 'opening_hours');
      assert.equal(call?.type === 'function' && call.function.arguments, '{"day":"Montag"}');
    });

    it('comes from the fallback while the primary fails, and nobody notices', async () => {
      story.primary.answers(error(500, 'server_error'));
      const { data, response } = await once.chat.completions.create({ model: 'large', messages }).withResponse();
      assert.equal(data.choices[0]?.message.content, 'from the backup');
      assert.equal(response.headers.get('x-switchyard-target'), 'backup/other-y');
    });

    it('that breaks in the middle is an error and no answer', async () => {
      story.primary.answers(stream([role, ...words('half ')], { after: 'cut' }));
      const answer = await once.chat.completions.create({ model: 'alone', messages, stream: true });
      let text = '';
      const broken = await refusalOf(
        (async () => {
          for await (const { choices } of answer) text += choices[0]?.delta.content ?? '';
        })(),
      );
      assert.equal(text, 'half ');
      assert.equal(broken.code, 'provider_reset');
    });

    it('that the client gives up is given up at the provider', async () => {
      story.primary.answers(stream([role, ...words('one ')], { after: 'stall' }));
      const answer = await client.chat.completions.create({ model: 'alone', messages, stream: true });
      for await (const { choices } of answer) if (choices[0]?.delta.content === 'one ') break;
      assert.ok(await until(async () => (story.primary.seen[0]?.closedAt ?? null) !== null, 10_000));
    });
  });

  describe('speech', () => {
    it('comes as the bytes that the provider sent', async () => {
      const audio = Buffer.from(Array.from({ length: 5_000 }, (_, index) => index % 256));
      story.primary.answers(bytes(audio, { 'content-type': 'audio/mpeg' }));
      const answer = await client.audio.speech.create({
        model: 'auto',
        voice: 'narrator',
        input: 'Hello',
        speed: 1.25,
      });
      assert.equal(answer.headers.get('content-type'), 'audio/mpeg');
      assert.ok(Buffer.from(await answer.arrayBuffer()).equals(audio));
      assert.deepEqual(bodySeen(), { model: 'tts-x', voice: 'alloy', input: 'Hello', speed: 1.25 });
      assert.equal(story.primary.seen[0]?.headers.authorization, 'Bearer provider-secret');
    });

    it('of the sandbox can be played', async () => {
      const answer = await client.audio.speech.create({ model: 'sandbox', voice: 'tone', input: 'Hello there' });
      const wav = Buffer.from(await answer.arrayBuffer());
      assert.equal(wav.toString('latin1', 0, 4) + wav.toString('latin1', 8, 12), 'RIFFWAVE');
      assert.equal(wav.readUInt32LE(4), wav.length - 8);
    });
  });

  describe('transcription', () => {
    const file = () => toFile(Buffer.alloc(200_000, 7), 'call.wav', { type: 'audio/wav' });

    it('is an object, with every field sent on as it was', async () => {
      story.primary.answers(json({ text: 'Hallo', words: [{ word: 'Hallo', start: 0, end: 0.5 }] }));
      const heard = await client.audio.transcriptions.create({
        file: await file(),
        model: 'large',
        language: 'de',
        response_format: 'verbose_json',
        timestamp_granularities: ['word', 'segment'],
      });
      assert.equal(heard.text, 'Hallo');
      assert.equal(heard.words?.[0]?.word, 'Hallo');
      const sent = story.primary.seen[0]?.body.toString('latin1') ?? '';
      assert.match(sent, /name="model"\r\n\r\ngpt-x\r\n/);
      assert.equal(sent.match(/name="timestamp_granularities\[\]"\r\n\r\n(word|segment)\r\n/g)?.length, 2);
      assert.match(sent, /filename="call\.wav"/);
    });

    it('is text where text is asked for', async () => {
      story.primary.answers(bytes('Hallo\n', { 'content-type': 'text/plain; charset=utf-8' }));
      const heard = await client.audio.transcriptions.create({
        file: await file(),
        model: 'auto',
        response_format: 'text',
      });
      assert.equal(heard, 'Hallo\n');
    });

    it('of the sandbox tells how much it was given', async () => {
      const heard = await client.audio.transcriptions.create({ file: await file(), model: 'sandbox' });
      assert.match(heard.text, /It was given 200000 bytes of audio\.$/);
    });
  });

  it('lists models', async () => {
    const ids: string[] = [];
    for await (const { id } of client.models.list()) ids.push(id);
    assert.deepEqual(ids, ['auto', 'large', 'alone', 'sandbox']);
  });

  it('gets a model', async () => {
    assert.deepEqual(await client.models.retrieve('large'), {
      id: 'large',
      object: 'model',
      created: 1_767_225_600,
      owned_by: 'primary, backup',
    });
    const refusal = await refusalOf(client.models.retrieve('a/b'));
    assert.ok(refusal instanceof NotFoundError);
    assert.deepEqual([refusal.code, refusal.param], ['model_not_found', 'model']);
    assert.match(refusal.message, /"a\/b"/);
  });

  describe('is told in its own classes', () => {
    it('of a key that is unknown', async () => {
      const stranger = new OpenAI({ apiKey: `sy_live_${'z'.repeat(40)}`, baseURL: story.baseURL });
      const refusal = await refusalOf(stranger.chat.completions.create({ model: 'large', messages }));
      assert.ok(refusal instanceof AuthenticationError);
      assert.deepEqual([refusal.code, refusal.type], ['key_invalid', 'authentication_error']);
      assert.match(refusal.message, /^401 \S/);
    });

    it('of a model that is unknown', async () => {
      const refusal = await refusalOf(client.chat.completions.create({ model: 'gpt-9', messages }));
      assert.ok(refusal instanceof NotFoundError);
      assert.deepEqual([refusal.code, refusal.param], ['model_not_found', 'model']);
      assert.match(refusal.message, /gpt-9/);
      assert.match(refusal.requestID ?? '', /^[\w-]{8,}$/);
    });

    it('of a path that there is not', async () => {
      const refusal = await refusalOf(client.embeddings.create({ model: 'large', input: 'Hello' }));
      assert.ok(refusal instanceof NotFoundError);
      assert.deepEqual([refusal.code, refusal.message], ['path_not_found', '404 There is nothing at this path.']);
    });

    it('of input that is not valid, by its place', async () => {
      const faulty = [{ content: 'nobody says this' }] as unknown as OpenAI.ChatCompletionMessageParam[];
      const refusal = await refusalOf(client.chat.completions.create({ model: 'large', messages: faulty }));
      assert.ok(refusal instanceof UnprocessableEntityError);
      assert.equal(refusal.param, 'messages[0].role');
      assert.equal(story.primary.seen.length, 0);
    });

    it('of what the provider refuses, in its words', async () => {
      story.primary.answers(error(400, 'content_policy_violation', {}, 'Not this.'));
      const refusal = await refusalOf(client.chat.completions.create({ model: 'alone', messages }));
      assert.ok(refusal instanceof BadRequestError);
      assert.deepEqual([refusal.code, refusal.message], ['content_policy_violation', '400 Not this.']);
    });

    it('of a provider that has too much to do, and tries again when it says', async () => {
      story.primary.answers(error(429, 'rate_limit_exceeded', { 'retry-after-ms': '40' }, 'Slow down.'));
      const refusal = await refusalOf(once.chat.completions.create({ model: 'alone', messages }));
      assert.ok(refusal instanceof RateLimitError);
      assert.deepEqual([refusal.code, refusal.headers.get('retry-after-ms')], ['rate_limit_exceeded', '40']);
      story.primary.answers(
        error(429, 'rate_limit_exceeded', { 'retry-after-ms': '40' }),
        json(completion('at the second try')),
      );
      const answer = await client.chat.completions.create({ model: 'alone', messages });
      assert.equal(answer.choices[0]?.message.content, 'at the second try');
      assert.equal(story.primary.seen.length, 2);
    });

    it('of a provider that is down', async () => {
      story.primary.answers(error(503, 'overloaded'));
      const refusal = await refusalOf(once.chat.completions.create({ model: 'alone', messages }));
      assert.ok(refusal instanceof InternalServerError);
      assert.deepEqual([refusal.status, refusal.code], [503, 'provider_overloaded']);
      assert.ok(Number(refusal.headers.get('retry-after')) >= 1);
    });

    it('of a voice that is unknown', async () => {
      const refusal = await refusalOf(
        client.audio.speech.create({ model: 'sandbox', voice: 'narrator', input: 'Hello' }),
      );
      assert.ok(refusal instanceof UnprocessableEntityError);
      assert.equal(refusal.param, 'voice');
    });
  });
});
