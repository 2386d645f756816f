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
import { GatewayScenario, toolCallAnswer, toolCallDeltas } from '../../e2e/support/gateway-scenario.ts';
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
} from '../../gateway/support/fake-provider.ts';
import { adminKey, poll } from '../../support/service/service-process.ts';

/** OpenAI's own client with the service's address and key. It must work as with OpenAI. */
describe('the official openai client', function () {
  this.timeout(180_000);
  let scenario: GatewayScenario;
  let client: OpenAI;
  /** The same client without retries. */
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
    scenario = await GatewayScenario.begin();
    client = new OpenAI({ apiKey: adminKey, baseURL: scenario.baseURL });
    once = new OpenAI({ apiKey: adminKey, baseURL: scenario.baseURL, maxRetries: 0 });
  });
  after(() => scenario.end());
  beforeEach(() => {
    scenario.primary.answers(json(completion('from the primary')));
    scenario.backup.answers(json(completion('from the backup')));
  });

  const receivedBody = () => JSON.parse(String(scenario.primary.seen[0]?.body)) as Record<string, unknown>;
  /** Returns the error of a refused call. */
  const refusalOf = async (call: Promise<unknown>): Promise<APIError> => {
    try {
      await call;
    } catch (refusal) {
      assert.ok(refusal instanceof APIError, String(refusal));
      return refusal;
    }
    return assert.fail('the call was not refused');
  };

  describe('embeddings', () => {
    it('come as numbers, although the client asks for Base64, and with as many dimensions as it asks for', async () => {
      const { data, usage } = await client.embeddings.create({
        model: 'sandbox',
        input: ['eins', 'zwei'],
        dimensions: 12,
      });
      assert.deepEqual(
        data.map(({ index, embedding }) => [index, embedding.length]),
        [
          [0, 12],
          [1, 12],
        ],
      );
      assert.ok(data.every(({ embedding }) => Math.abs(Math.hypot(...embedding) - 1) < 1e-5));
      assert.deepEqual(usage, { prompt_tokens: 2, total_tokens: 2 });
    });

    it('reach a provider with the name of its model', async () => {
      const embedding = [0.25, -0.5];
      const item = { object: 'embedding', index: 0, embedding };
      const usage = { prompt_tokens: 1, total_tokens: 1 };
      scenario.primary.answers(json({ object: 'list', data: [item], model: 'gpt-x', usage }));
      const { data, response } = await client.embeddings
        .create({ model: 'large', input: 'eins', encoding_format: 'float' })
        .withResponse();
      assert.deepEqual(data.data[0]?.embedding, embedding);
      assert.equal(response.headers.get('x-switchyard-target'), 'primary/gpt-x');
      assert.deepEqual(receivedBody(), { model: 'gpt-x', input: 'eins', encoding_format: 'float' });
    });
  });

  describe('chat', () => {
    it('completes a chat, with the target in its headers', async () => {
      const { data, response, request_id } = await client.chat.completions
        .create({ model: 'large', messages, temperature: 0.5, seed: 7 })
        .withResponse();
      assert.equal(data.choices[0]?.message.content, 'from the primary');
      assert.equal(data.model, 'gpt-x-2026');
      assert.deepEqual([data.usage?.prompt_tokens, data.usage?.completion_tokens], [5, 7]);
      assert.equal(response.headers.get('x-switchyard-target'), 'primary/gpt-x');
      assert.match(request_id ?? '', /^[\w-]{8,}$/);
      assert.deepEqual(receivedBody(), { model: 'gpt-x', messages, temperature: 0.5, seed: 7 });
    });

    it('selects the model by the hint, and does not pass the hint to the provider', async () => {
      const asked = { model: 'auto', messages, reasoning: 'fast' } as OpenAI.ChatCompletionCreateParamsNonStreaming;
      const answer = await client.chat.completions.create(asked);
      assert.equal(answer.model, 'switchyard-sandbox');
      assert.match(answer.choices[0]?.message.content ?? '', /Wann habt ihr offen\? 😀$/);
    });

    it('streams a chat, with usage on request', async () => {
      const usage = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 };
      const last = `data: ${JSON.stringify({ id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'gpt-x', choices: [], usage })}\n\n`;
      scenario.primary.answers(stream([role, ...words('Grüß ', 'Gott 😀'), stop, last, done]));
      const answer = await client.chat.completions.create({
        model: 'large',
        messages,
        stream: true,
        stream_options: { include_usage: true },
      });
      let text = '';
      let received: unknown = null;
      for await (const { choices, usage: ofChunk } of answer) {
        text += choices[0]?.delta.content ?? '';
        received = ofChunk ?? received;
      }
      assert.equal(text, 'Grüß Gott 😀');
      assert.deepEqual(received, usage);
    });

    it('streams a chat from the sandbox through the helper that assembles answers', async () => {
      const answer = await client.chat.completions.stream({ model: 'sandbox', messages }).finalChatCompletion();
      assert.match(
        answer.choices[0]?.message.content ?? '',
        /^This is the Switchyard sandbox and no model\. You said:/,
      );
      assert.equal(answer.choices[0]?.finish_reason, 'stop');
    });

    it('gets as many choices from the sandbox as requested', async () => {
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

    it('calls tools, and sends their results', async () => {
      scenario.primary.answers(json(toolCallAnswer));
      const first = await client.chat.completions.create({ model: 'large', messages, tools });
      const message = first.choices[0]?.message ?? assert.fail('no choice');
      const [call] = message.tool_calls ?? [];
      assert.equal(call?.type === 'function' && call.function.arguments, '{"day":"Montag"}');
      assert.deepEqual(receivedBody().tools, tools);

      scenario.primary.answers(json(completion('Von neun bis fünf.')));
      const result = { role: 'tool' as const, tool_call_id: 'call_1', content: '9-17' };
      const second = await client.chat.completions.create({
        model: 'large',
        messages: [...messages, message, result],
        tools,
      });
      assert.equal(second.choices[0]?.message.content, 'Von neun bis fünf.');
      assert.deepEqual(receivedBody().messages, [...messages, message, result]);
    });

    it('calls tools in a stream', async () => {
      const deltas = toolCallDeltas.map((delta) => chunk(delta));
      scenario.primary.answers(stream([...deltas, chunk({}, 'tool_calls'), done], { gapMs: 1 }));
      const answer = await client.chat.completions.stream({ model: 'large', messages, tools }).finalChatCompletion();
      const [call] = answer.choices[0]?.message.tool_calls ?? [];
      assert.equal(call?.type === 'function' && call.function.name, 'opening_hours');
      assert.equal(call?.type === 'function' && call.function.arguments, '{"day":"Montag"}');
    });

    it('answers from the fallback while the primary fails', async () => {
      scenario.primary.answers(error(500, 'server_error'));
      const { data, response } = await once.chat.completions.create({ model: 'large', messages }).withResponse();
      assert.equal(data.choices[0]?.message.content, 'from the backup');
      assert.equal(response.headers.get('x-switchyard-target'), 'backup/other-y');
    });

    it('reports a chat that breaks in the middle as an error', async () => {
      scenario.primary.answers(stream([role, ...words('half ')], { after: 'cut' }));
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

    it('aborts a chat at the provider when the client aborts it', async () => {
      scenario.primary.answers(stream([role, ...words('one ')], { after: 'stall' }));
      const answer = await client.chat.completions.create({ model: 'alone', messages, stream: true });
      for await (const { choices } of answer) if (choices[0]?.delta.content === 'one ') break;
      assert.ok(await poll(async () => (scenario.primary.seen[0]?.closedAt ?? null) !== null, 60_000));
    });
  });

  describe('speech', () => {
    it('receives speech as the bytes that the provider sent', async () => {
      const audio = Buffer.from(Array.from({ length: 5_000 }, (_, index) => index % 256));
      scenario.primary.answers(bytes(audio, { 'content-type': 'audio/mpeg' }));
      const answer = await client.audio.speech.create({
        model: 'auto',
        voice: 'narrator',
        input: 'Hello',
        speed: 1.25,
      });
      assert.equal(answer.headers.get('content-type'), 'audio/mpeg');
      assert.ok(Buffer.from(await answer.arrayBuffer()).equals(audio));
      assert.deepEqual(receivedBody(), { model: 'tts-x', voice: 'alloy', input: 'Hello', speed: 1.25 });
      assert.equal(scenario.primary.seen[0]?.headers.authorization, 'Bearer provider-secret');
    });

    it('receives a playable WAV file of speech from the sandbox', async () => {
      const answer = await client.audio.speech.create({ model: 'sandbox', voice: 'tone', input: 'Hello there' });
      const wav = Buffer.from(await answer.arrayBuffer());
      assert.equal(wav.toString('latin1', 0, 4) + wav.toString('latin1', 8, 12), 'RIFFWAVE');
      assert.equal(wav.readUInt32LE(4), wav.length - 8);
    });
  });

  describe('transcription', () => {
    const file = () => toFile(Buffer.alloc(200_000, 7), 'call.wav', { type: 'audio/wav' });

    it('transcribes into an object, with every field passed on unchanged', async () => {
      scenario.primary.answers(json({ text: 'Hallo', words: [{ word: 'Hallo', start: 0, end: 0.5 }] }));
      const transcription = await client.audio.transcriptions.create({
        file: await file(),
        model: 'large',
        language: 'de',
        response_format: 'verbose_json',
        timestamp_granularities: ['word', 'segment'],
      });
      assert.equal(transcription.text, 'Hallo');
      assert.equal(transcription.words?.[0]?.word, 'Hallo');
      const sent = scenario.primary.seen[0]?.body.toString('latin1') ?? '';
      assert.match(sent, /name="model"\r\n\r\ngpt-x\r\n/);
      assert.equal(sent.match(/name="timestamp_granularities\[\]"\r\n\r\n(word|segment)\r\n/g)?.length, 2);
      assert.match(sent, /filename="call\.wav"/);
    });

    it('transcribes into text on request', async () => {
      scenario.primary.answers(bytes('Hallo\n', { 'content-type': 'text/plain; charset=utf-8' }));
      const transcription = await client.audio.transcriptions.create({
        file: await file(),
        model: 'auto',
        response_format: 'text',
      });
      assert.equal(transcription, 'Hallo\n');
    });

    it('transcribes in the sandbox into the size of the upload', async () => {
      const transcription = await client.audio.transcriptions.create({ file: await file(), model: 'sandbox' });
      assert.match(transcription.text, /It was given 200000 bytes of audio\.$/);
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
      // The key is an administrator's.
      pricing: {
        currency: 'USD',
        targets: [
          { target: 'primary/gpt-x', price: { inputPerMillion: 3, outputPerMillion: 9 } },
          { target: 'backup/other-y', price: { inputPerMillion: 2, outputPerMillion: 8 } },
        ],
      },
    });
    const refusal = await refusalOf(client.models.retrieve('a/b'));
    assert.ok(refusal instanceof NotFoundError);
    assert.deepEqual([refusal.code, refusal.param], ['model_not_found', 'model']);
    assert.match(refusal.message, /"a\/b"/);
  });

  describe('errors', () => {
    it('reports an unknown key as AuthenticationError', async () => {
      const stranger = new OpenAI({ apiKey: `sy_live_${'z'.repeat(40)}`, baseURL: scenario.baseURL });
      const refusal = await refusalOf(stranger.chat.completions.create({ model: 'large', messages }));
      assert.ok(refusal instanceof AuthenticationError);
      assert.deepEqual([refusal.code, refusal.type], ['key_invalid', 'authentication_error']);
      assert.match(refusal.message, /^401 \S/);
    });

    it('reports an unknown model as NotFoundError', async () => {
      const refusal = await refusalOf(client.chat.completions.create({ model: 'gpt-9', messages }));
      assert.ok(refusal instanceof NotFoundError);
      assert.deepEqual([refusal.code, refusal.param], ['model_not_found', 'model']);
      assert.match(refusal.message, /gpt-9/);
      assert.match(refusal.requestID ?? '', /^[\w-]{8,}$/);
    });

    it('reports a path that is not served as NotFoundError, and says what to do', async () => {
      for (const [call, path, hint] of [
        [() => client.conversations.create(), '/v1/conversations', /Use \/v1\/responses/],
        [
          () => client.moderations.create({ model: 'large', input: 'Hello' }),
          '/v1/moderations',
          /base URL of a provider/,
        ],
      ] as const) {
        const refusal = await refusalOf(call());
        assert.ok(refusal instanceof NotFoundError);
        assert.deepEqual([refusal.code, refusal.type], ['unsupported_endpoint', 'invalid_request_error']);
        assert.ok(refusal.message.startsWith(`404 Switchyard does not serve ${path}. It serves /v1/audio/speech, `));
        assert.match(refusal.message, hint);
      }
    });

    it('reports invalid input as UnprocessableEntityError with its place', async () => {
      const faulty = [{ content: 'a message without a role' }] as unknown as OpenAI.ChatCompletionMessageParam[];
      const refusal = await refusalOf(client.chat.completions.create({ model: 'large', messages: faulty }));
      assert.ok(refusal instanceof UnprocessableEntityError);
      assert.equal(refusal.param, 'messages[0].role');
      assert.equal(scenario.primary.seen.length, 0);
    });

    it('reports a provider’s refusal as BadRequestError with its message', async () => {
      scenario.primary.answers(error(400, 'content_policy_violation', {}, 'Not this.'));
      const refusal = await refusalOf(client.chat.completions.create({ model: 'alone', messages }));
      assert.ok(refusal instanceof BadRequestError);
      assert.deepEqual([refusal.code, refusal.message], ['content_policy_violation', '400 Not this.']);
    });

    it('reports an overloaded provider as RateLimitError, and retries after the requested time', async () => {
      scenario.primary.answers(error(429, 'rate_limit_exceeded', { 'retry-after-ms': '40' }, 'Slow down.'));
      const refusal = await refusalOf(once.chat.completions.create({ model: 'alone', messages }));
      assert.ok(refusal instanceof RateLimitError);
      assert.deepEqual([refusal.code, refusal.headers.get('retry-after-ms')], ['rate_limit_exceeded', '40']);
      scenario.primary.answers(
        error(429, 'rate_limit_exceeded', { 'retry-after-ms': '40' }),
        json(completion('at the second try')),
      );
      const answer = await client.chat.completions.create({ model: 'alone', messages });
      assert.equal(answer.choices[0]?.message.content, 'at the second try');
      assert.equal(scenario.primary.seen.length, 2);
    });

    it('reports an unavailable provider as InternalServerError', async () => {
      scenario.primary.answers(error(503, 'overloaded'));
      const refusal = await refusalOf(once.chat.completions.create({ model: 'alone', messages }));
      assert.ok(refusal instanceof InternalServerError);
      assert.deepEqual([refusal.status, refusal.code], [503, 'provider_overloaded']);
      assert.ok(Number(refusal.headers.get('retry-after')) >= 1);
    });

    it('reports an unknown voice as UnprocessableEntityError', async () => {
      const refusal = await refusalOf(
        client.audio.speech.create({ model: 'sandbox', voice: 'narrator', input: 'Hello' }),
      );
      assert.ok(refusal instanceof UnprocessableEntityError);
      assert.equal(refusal.param, 'voice');
    });
  });
});
