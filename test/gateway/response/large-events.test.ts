import assert from 'node:assert/strict';
import { gzipSync } from 'node:zlib';
import { Admission } from '#exchange/admission.ts';
import type { ByteBudget } from '#exchange/byte-budget.ts';
import {
  type Behaviour,
  bytes,
  chunk,
  done,
  FakeProvider,
  role,
  stop,
  stream,
  words,
} from '#test/gateway/support/fake-provider.ts';
import { type GatewayService, openChat, post, startGateway } from '#test/gateway/support/gateway-service.ts';
import { goodKey } from '#test/http/support/fake-service.ts';
import { eventually } from '#test/support/run/eventually.ts';

const mebibyte = 1024 * 1024;
const large = 'A'.repeat(1_400_000);
const user = { role: 'user', content: 'hello' };
const chat = { model: 'chat', stream: true, messages: [user] };
const message = { ...chat, model: 'claude', max_tokens: 10 };
const response = { model: 'native', stream: true, input: 'hello', store: false };

const images = chunk({ images: [{ type: 'image_url', image_url: { url: `data:image/png;base64,${large}` } }] });
const event = (value: { readonly type: string }) => `event: ${value.type}\ndata: ${JSON.stringify(value)}\n\n`;

const responseObject = (output: ReadonlyArray<object>, status = 'completed') => ({
  id: `resp_${'a'.repeat(20)}`,
  object: 'response',
  status,
  model: 'x',
  output,
  usage: status === 'completed' ? { input_tokens: 5, output_tokens: 7, total_tokens: 12 } : null,
});
const image = { id: 'ig_1', type: 'image_generation_call', status: 'completed', result: large };
const created = event({
  type: 'response.created',
  ...{ response: responseObject([], 'in_progress'), sequence_number: 0 },
});
const partial = event({
  type: 'response.image_generation_call.partial_image',
  ...{ item_id: 'ig_1', sequence_number: 1, partial_image_b64: large },
});
const itemDone = event({ type: 'response.output_item.done', ...{ output_index: 0, item: image, sequence_number: 2 } });
const completed = event({ type: 'response.completed', ...{ response: responseObject([image]), sequence_number: 3 } });

const usage = { input_tokens: 5, output_tokens: 1 };
const messageStart = event({
  type: 'message_start',
  ...{ message: { id: 'm1', type: 'message', role: 'assistant', model: 'x', content: [], usage } },
});
const blockStart = event({ type: 'content_block_start', ...{ index: 0, content_block: { type: 'text', text: '' } } });
const largeDelta = event({ type: 'content_block_delta', ...{ index: 0, delta: { type: 'text_delta', text: large } } });
const messageEnd =
  event({ type: 'content_block_stop', ...{ index: 0 } }) +
  event({ type: 'message_delta', ...{ delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 7 } } }) +
  event({ type: 'message_stop' });

/** The text of all pieces in a stream. */
function textIn(events: string): string {
  return events
    .split('\n\n')
    .filter((written) => written.includes('_text.delta"') || written.includes('"text_delta"'))
    .map((written) => JSON.parse(written.slice(written.indexOf('data: ') + 6)).delta)
    .map((delta) => (typeof delta === 'string' ? delta : delta.text))
    .join('');
}

describe('A large event of a stream', () => {
  let provider: FakeProvider;
  let backup: FakeProvider;
  let service: GatewayService;
  let answers: ByteBudget;

  before(async () => {
    [provider, backup] = await Promise.all([FakeProvider.start(), FakeProvider.start()]);
    const admission = new Admission({
      limits: { bytes: { answer: { maxBytesPerProject: 24 * mebibyte, maxBytes: 40 * mebibyte } } },
    });
    answers = admission.budgets.answer;
    const target = (name: string) => ({ targets: [{ provider: name, model: 'x', maxOutputTokens: 100 }], retries: 0 });
    service = await startGateway(
      {
        providers: {
          openai: { kind: 'openai-compatible', baseUrl: provider.baseUrl },
          native: { kind: 'openai-compatible', baseUrl: provider.baseUrl, responses: true, hostedTools: true },
          claude: { kind: 'anthropic', baseUrl: provider.baseUrl },
          backup: { kind: 'openai-compatible', baseUrl: backup.baseUrl },
        },
        models: {
          chat: { ...target('openai'), fallbacks: [{ provider: 'backup', model: 'y' }] },
          alone: target('openai'),
          native: target('native'),
          claude: target('claude'),
          whole: { ...target('openai'), onStreamFailure: 'whole' },
        },
      },
      { admission },
    );
    backup.answers(stream([role, ...words('from the backup'), stop, done]));
  });
  beforeEach(() => service.letCircuitsWait(600_000));
  afterEach(() => eventually(() => answers.bytes === 0, 'no held bytes'));
  after(async () => {
    await service.stop();
    await Promise.all([provider.stop(), backup.stop()]);
  });

  const passes: Readonly<Record<string, readonly [string, object, ReadonlyArray<string>]>> = {
    'a picture in a chat': ['/v1/chat/completions', chat, [role, images, stop, done]],
    'a chat without an error, which says so': [
      '/v1/chat/completions',
      chat,
      [role, images.replace(/\}\n\n$/, ', "error" : null,"o":{"error":"x"}}\n\n'), stop, done],
    ],
    'a call of a hosted tool that has failed': [
      '/v1/responses',
      response,
      [
        created,
        event({ type: 'response.output_item.done', ...{ output_index: 0, item: { ...image, error: 'x' } } }),
        completed,
      ],
    ],
    'a text in a chat whose stream is held whole': [
      '/v1/chat/completions',
      { ...chat, model: 'whole' },
      [role, chunk({ content: large }), stop, done],
    ],
    'lines that end as in HTTP': [
      '/v1/chat/completions',
      chat,
      [role, images, stop, done].map((text) => text.replaceAll('\n', '\r\n')),
    ],
    'an item and the end of a response': ['/v1/responses', response, [created, itemDone, completed]],
    'a picture that is the first content of a response': ['/v1/responses', response, [created, partial, completed]],
    'a text of a message': ['/v1/messages', message, [messageStart, blockStart, largeDelta, messageEnd]],
    'the beginning of a block, before any content': [
      '/v1/messages',
      message,
      [
        messageStart,
        event({
          type: 'content_block_start',
          ...{ index: 0, content_block: { type: 'web_search_tool_result', content: [{ encrypted_content: large }] } },
        }),
        event({ type: 'content_block_stop', ...{ index: 0 } }),
        blockStart.replace('"index":0', '"index":1'),
        event({ type: 'content_block_delta', ...{ index: 1, delta: { type: 'text_delta', text: 'x' } } }),
        messageEnd,
      ],
    ],
  };
  for (const [what, [path, body, sent]] of Object.entries(passes))
    it(`passes as it came: ${what}`, async () => {
      provider.answers(stream(sent));
      const answer = await post(service, path, body);
      assert.equal(answer.status, 200, answer.text.slice(0, 200));
      assert.ok(answer.text === sent.join(''), `${answer.text.length} characters came, not ${sent.join('').length}`);
    });

  it('reaches the client before its end has come', async () => {
    const go = Promise.withResolvers<void>();
    provider.answers(async (res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      res.write(role + images.slice(0, 1_300_000));
      await go.promise;
      res.end(images.slice(1_300_000) + stop + done);
    });
    const client = openChat(service, chat);
    await eventually(() => client.received().length > 1_200_000, 'the beginning of the event');
    go.resolve();
    await client.ended;
    assert.ok(client.received() === role + images + stop + done);
  });

  it('has its usage, its finish and its id at its end', async () => {
    const end = { usage: { prompt_tokens: 5, completion_tokens: 7 } };
    provider.answers(stream([role, chunk({ content: large }, 'stop', end), done]));
    const answer = await post(service, '/v1/chat/completions', { ...chat, model: 'alone' });
    assert.match(answer.text, /\[DONE\]/);
    assert.deepEqual(service.records.at(-1)?.tokens, { input: 5, output: 7 });
    provider.answers(stream([created, itemDone, completed]));
    await post(service, '/v1/responses', response);
    assert.deepEqual(service.records.at(-1)?.tokens, { input: 5, output: 7 });
  });

  it('is stored with its response, which is held', async () => {
    provider.answers(stream([created, itemDone, completed]));
    const answer = await post(service, '/v1/responses', { ...response, store: true });
    assert.equal(answer.status, 200);
    assert.match(answer.text, /"store":true/);
    const got = await fetch(`${service.url}/v1/responses/${responseObject([]).id}`, {
      headers: { authorization: `Bearer ${goodKey}` },
    });
    assert.equal(got.status, 200);
    const stored = (await got.json()) as { readonly output: ReadonlyArray<{ readonly result: string }> };
    assert.ok(stored.output[0]?.result === large);
  });

  it('is no content if it is an error', async () => {
    const error = `data: ${JSON.stringify({ error: { message: `no ${large}`, code: '500' } })}\n\n`;
    provider.answers(stream([role, error]));
    const answer = await post(service, '/v1/chat/completions', chat);
    assert.match(answer.text, /from the backup/);
    assert.equal(answer.headers.get('x-switchyard-target'), 'backup/y');
  });

  const broken: Readonly<Record<string, Behaviour>> = {
    'whose connection breaks': (res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      res.write(role + images.slice(0, 1_300_000), () => res.destroy());
    },
    'whose stream ends': stream([role, images.slice(0, 1_300_000)]),
    'that ends with an error': stream([
      role,
      chunk({ content: large }, null, { error: { message: 'boom' } }),
      stop,
      done,
    ]),
    'that is not JSON at its end': stream([role, `${images.slice(0, 1_300_000)}"]\n\n`, stop, done]),
  };
  for (const [what, behaviour] of Object.entries(broken))
    it(`never looks complete: one ${what}`, async () => {
      provider.answers(behaviour);
      const { text } = await post(service, '/v1/chat/completions', chat);
      assert.match(text.slice(-500), /\n\ndata: \{"error":[^\n]+\n\n$/);
      assert.doesNotMatch(text, /\[DONE\]|backup/);
    });

  it('is read no faster than its client reads, however large it is', async () => {
    const size = 16 * mebibyte;
    provider.answers(async (res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      const [head, tail] = chunk({ content: '|' }).split('|');
      const piece = Buffer.alloc(64 * 1_024, 'x');
      res.write(role + head);
      for (let sent = 0; sent < size; sent += piece.length) await new Promise((resolve) => res.write(piece, resolve));
      res.end(tail + stop + done);
    });
    const answer = await fetch(`${service.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${goodKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(chat),
    });
    let length = 0;
    let most = 0;
    for await (const piece of answer.body ?? []) {
      length += piece.length;
      most = Math.max(most, answers.bytes);
    }
    assert.ok(length > size);
    assert.ok(most < 4 * mebibyte, `${most} bytes were held`);
  });

  it('is translated as a whole', async () => {
    const text = 'é€"\\\n😀'.repeat(100_000);
    for (const [path, body] of [
      ['/v1/messages', { ...message, model: 'alone' }],
      ['/v1/responses', { ...response, model: 'alone' }],
    ] as const) {
      provider.answers(stream([role, chunk({ content: text }), stop, done]));
      const answer = await post(service, path, body);
      assert.equal(answer.status, 200, answer.text.slice(0, 300));
      assert.ok(textIn(answer.text) === text, path);
      assert.match(answer.text, /message_stop|response\.completed/);
    }
  });

  it('is translated where the end of the answer repeats more than is kept of small events', async () => {
    const text = large.repeat(4);
    provider.answers(stream([role, chunk({ content: text }), stop, done]));
    const answer = await post(service, '/v1/responses', { ...response, model: 'alone' });
    assert.ok(textIn(answer.text) === text);
    assert.match(answer.text.slice(-200_000), /response\.completed|"usage"/);
    assert.doesNotMatch(answer.text, /response\.failed|event: error/);
  });

  it('is translated where another item of its answer follows', async () => {
    const text = large.repeat(4);
    const call = { index: 0, id: 'call_1', function: { name: 'look', arguments: '{}' } };
    provider.answers(stream([role, chunk({ content: text }), chunk({ tool_calls: [call] }), stop, done]));
    const answer = await post(service, '/v1/responses', { ...response, model: 'alone' });
    assert.ok(textIn(answer.text) === text);
    assert.match(answer.text.slice(-10_000), /"name":"look".*event: response\.completed|"usage"/s);
    assert.doesNotMatch(answer.text, /response\.failed/);
  });

  const repeated = 'é€"\\\n😀 of any kind'.repeat(100_000);
  const repeats: Readonly<Record<string, readonly [object, string, ReadonlyArray<string>]>> = {
    'a text': [
      { content: repeated },
      'response.output_text.done',
      ['text', 'part.text', 'item.content.0.text', 'response.output.0.content.0.text'],
    ],
    'what the model thought': [
      { reasoning_content: repeated },
      'response.reasoning_summary_text.done',
      ['text', 'part.text', 'item.summary.0.text', 'response.output.0.summary.0.text'],
    ],
    'the arguments of a call': [
      { tool_calls: [{ index: 0, id: 'c', function: { name: 'look', arguments: JSON.stringify({ repeated }) } }] },
      'response.function_call_arguments.done',
      ['arguments', 'item.arguments', 'response.output.0.arguments'],
    ],
  };
  for (const [what, [delta, first, places]] of Object.entries(repeats))
    it(`is kept once for the events of a response that repeat it: ${what}`, async () => {
      provider.answers(stream([role, chunk(delta), stop, done]));
      const answer = await fetch(`${service.url}/v1/responses`, {
        method: 'POST',
        headers: { authorization: `Bearer ${goodKey}`, 'content-type': 'application/json' },
        body: JSON.stringify({ ...response, model: 'alone' }),
      });
      const received: Buffer[] = [];
      let most = 0;
      for await (const piece of answer.body ?? []) {
        received.push(Buffer.from(piece));
        most = Math.max(most, answers.bytes);
      }
      const text = Buffer.concat(received).toString();
      const events = text.split('\n\n').filter((written) => written.includes('data: '));
      const values = events.map((written) => JSON.parse(written.slice(written.indexOf('data: ') + 6)));
      assert.deepEqual(
        values.map((value) => value.sequence_number),
        values.map((_, index) => index),
      );
      const ends = values.slice(values.findIndex(({ type }) => type === first));
      assert.equal(ends.at(-1).type, 'response.completed');
      const at = (value: unknown, path: string) =>
        path.split('.').reduce((inside, name) => (inside as Record<string, unknown> | undefined)?.[name], value);
      const expected = what.startsWith('the arguments') ? JSON.stringify({ repeated }) : repeated;
      for (const [index, place] of places.entries()) assert.ok(at(ends[index], place) === expected, place);
      assert.ok(most < 2.5 * Buffer.byteLength(JSON.stringify(chunk(delta))), `${most} bytes were kept`);
    });

  const ends: Readonly<Record<string, Behaviour>> = {
    'its stream ends before its blank line': stream([role, chunk({ content: large }, 'stop').trimEnd()]),
    'its connection breaks after it': async (res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      await new Promise((resolve) => res.write(role + chunk({ content: large.repeat(6) }, 'stop'), resolve));
      res.destroy();
    },
  };
  for (const [what, behaviour] of Object.entries(ends))
    it(`is translated whole if it finishes its answer and ${what}`, async () => {
      provider.answers(behaviour);
      const answer = await post(service, '/v1/messages', { ...message, model: 'alone' });
      assert.equal(answer.status, 200, answer.text.slice(0, 300));
      assert.equal(textIn(answer.text).length % large.length, 0);
      assert.match(answer.text.slice(-1_000), /message_stop/);
      assert.doesNotMatch(answer.text.slice(-1_000), /event: error/);
    });

  for (const [path, body] of [
    ['/v1/chat/completions', chat],
    ['/v1/messages', message],
    ['/v1/responses', response],
  ] as const)
    it(`is held up to the project’s bound where its stream is held whole: ${path}`, async () => {
      const text = large.repeat(13);
      provider.answers(stream([role, chunk({ content: text }), stop, done]));
      const answer = await post(service, path, { ...body, model: 'whole' });
      assert.equal(answer.headers.get('x-switchyard-target'), 'openai/x', answer.text.slice(0, 300));
      assert.ok(answer.text.length > text.length);
      assert.doesNotMatch(answer.text, /event: error|response\.failed/);
    });

  it('is translated when it came compressed', async () => {
    const sent = gzipSync([role, chunk({ content: large }), stop, done].join(''));
    provider.answers(bytes(sent, { 'content-type': 'text/event-stream', 'content-encoding': 'gzip' }));
    const answer = await post(service, '/v1/messages', { ...message, model: 'alone' });
    assert.ok(textIn(answer.text) === large);
  });

  it('that must be held ends the answer where it is larger than a project’s bound, which the error names', async () => {
    provider.answers(stream([role, chunk({ content: large.repeat(18) }), stop, done]));
    const answer = await post(service, '/v1/messages', { ...message, model: 'alone' });
    assert.equal(answer.status, 502);
    assert.match(answer.text, /25165824 bytes.*MAX_ANSWER_BYTES_IN_FLIGHT_PER_PROJECT\). Ask for less at a time\."/);
  });
});
