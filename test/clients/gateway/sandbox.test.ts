import assert from 'node:assert/strict';
import OpenAI, { BadRequestError } from 'openai';
import { builtInConfiguration } from '../../../src/gateway/config/configuration-file.ts';
import { type GatewayService, startGateway } from '../../gateway/support/gateway-service.ts';
import { goodKey } from '../../http/support/fake-service.ts';
import { Recorder } from '../support/recorder.ts';

/** The requests of common integrations, with the official SDK and no account. */
describe('the sandbox and integrations', () => {
  let service: GatewayService;
  let client: OpenAI;
  const messages = [{ role: 'user' as const, content: 'When do you open?' }];
  const tools = ['first', 'opening_hours'].map((name) => ({
    type: 'function' as const,
    function: {
      name,
      parameters: {
        type: 'object',
        properties: { day: { type: 'string', enum: ['monday', 'sunday'] }, party: { type: 'integer', minimum: 2 } },
        required: ['day', 'party'],
      },
    },
  }));
  const json_schema = {
    name: 'hours',
    strict: true,
    schema: {
      type: 'object',
      properties: {
        opens: { type: 'string', format: 'time' },
        days: { type: 'array', items: { type: 'string' } },
      },
      required: ['opens', 'days'],
      additionalProperties: false,
    },
  };

  before(async () => {
    service = await startGateway(builtInConfiguration);
    client = new OpenAI({ apiKey: goodKey, baseURL: `${service.url}/v1`, maxRetries: 0 });
  });
  after(() => service.stop());
  new Recorder('sandbox').recordTests();

  it('answers with a value that fits a schema', async () => {
    const { choices } = await client.chat.completions.create({
      model: 'auto',
      messages,
      response_format: { type: 'json_schema', json_schema },
    });
    assert.deepEqual(JSON.parse(choices[0]?.message.content ?? ''), { opens: '12:00:00Z', days: ['sandbox'] });
  });

  it('answers with JSON when the request accepts only JSON', async () => {
    const { choices } = await client.chat.completions.create({
      model: 'auto',
      messages,
      response_format: { type: 'json_object' },
    });
    assert.match(JSON.parse(choices[0]?.message.content ?? '').sandbox, /You said: When do you open\?$/);
  });

  for (const [choice, name] of [
    ['required', 'first'],
    [{ type: 'function', function: { name: 'opening_hours' } }, 'opening_hours'],
  ] as const) {
    it(`calls ${name} when tool_choice requires it`, async () => {
      const { choices } = await client.chat.completions.create({ model: 'auto', messages, tools, tool_choice: choice });
      const [call] = choices[0]?.message.tool_calls ?? [];
      assert.equal(choices[0]?.finish_reason, 'tool_calls');
      assert.ok(call?.type === 'function' && call.function.name === name);
      assert.deepEqual(JSON.parse(call.function.arguments), { day: 'monday', party: 2 });
    });

    it(`calls ${name} in a stream when tool_choice requires it`, async () => {
      const stream = client.chat.completions.stream({ model: 'auto', messages, tools, tool_choice: choice });
      const { choices } = await stream.finalChatCompletion();
      const [call] = choices[0]?.message.tool_calls ?? [];
      assert.ok(call?.type === 'function' && call.function.name === name);
      assert.deepEqual(JSON.parse(call.function.arguments), { day: 'monday', party: 2 });
    });
  }

  for (const choice of [undefined, 'auto', 'none'] as const)
    it(`answers with a text when tool_choice is ${choice}`, async () => {
      const sent = choice === undefined ? {} : { tool_choice: choice };
      const { choices } = await client.chat.completions.create({ model: 'auto', messages, tools, ...sent });
      assert.match(choices[0]?.message.content ?? '', /You said: When do you open\?$/);
    });

  const asks = (content: string): OpenAI.ChatCompletionMessageParam[] => [{ role: 'user', content }];
  const calledBy = async (asked: Partial<OpenAI.ChatCompletionCreateParamsNonStreaming>) => {
    const { choices } = await client.chat.completions.create({ model: 'auto', messages, tools, ...asked });
    const [call] = choices[0]?.message.tool_calls ?? [];
    return call?.type === 'function' ? call.function.name : null;
  };

  it('calls the tool that the last message names with "call", and answers its result with a text', async () => {
    const asked = asks('Please call opening_hours for Monday.');
    assert.equal(await calledBy({ messages: asked }), 'opening_hours');
    assert.equal(await calledBy({ messages: asked, tool_choice: 'none' }), null);
    assert.equal(await calledBy({ messages: asks('call nothing') }), null);
    const call = { id: 'call_1', type: 'function' as const, function: { name: 'opening_hours', arguments: '{}' } };
    const answered: OpenAI.ChatCompletionMessageParam[] = [
      ...asked,
      { role: 'assistant', tool_calls: [call] },
      { role: 'tool', tool_call_id: 'call_1', content: 'nine to five' },
    ];
    assert.equal(await calledBy({ messages: answered }), null);
  });

  it('takes a tool_choice of allowed tools', async () => {
    const allowed = (mode: 'auto' | 'required', name: string): OpenAI.ChatCompletionToolChoiceOption => ({
      type: 'allowed_tools',
      allowed_tools: { mode, tools: [{ type: 'function', function: { name } }] },
    });
    assert.equal(await calledBy({ tool_choice: allowed('required', 'opening_hours') }), 'opening_hours');
    assert.equal(await calledBy({ tool_choice: allowed('auto', 'opening_hours') }), null);
    const asked = asks('call opening_hours');
    assert.equal(await calledBy({ messages: asked, tool_choice: allowed('auto', 'opening_hours') }), 'opening_hours');
    assert.equal(await calledBy({ messages: asked, tool_choice: allowed('auto', 'first') }), null);
  });

  it('transcribes with segments and words that have all members of the reference', async () => {
    const file = new File(['RIFF'], 'speech.wav');
    const { segments, words, ...rest } = await client.audio.transcriptions.create({
      model: 'auto',
      file,
      response_format: 'verbose_json',
    });
    const required = ['id', 'seek', 'start', 'end', 'text', 'tokens', 'temperature', 'avg_logprob'];
    for (const name of [...required, 'compression_ratio', 'no_speech_prob'])
      assert.ok(segments?.[0] !== undefined && name in segments[0], name);
    assert.equal(words?.map(({ word }) => word).join(' '), rest.text);
    assert.deepEqual([words?.[0]?.start, words?.at(-1)?.end], [0, 1]);
  });

  it('refuses a schema that it cannot serve, and names the reason', async () => {
    for (const [asked, message] of [
      [
        { tools, tool_choice: { type: 'function', function: { name: 'other' } } },
        /a function that tools does not hold/,
      ],
      [
        { response_format: { type: 'json_schema', json_schema: { name: 'x', schema: { not: {} } } } },
        /does not know the keyword not/,
      ],
    ] as const)
      await assert.rejects(
        client.chat.completions.create({ model: 'auto', messages, ...asked } as never),
        (error: unknown) => error instanceof BadRequestError && message.test(error.message),
      );
  });
});
