import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { LineOutcome, LineRequest } from '#application/batches/line-calls.ts';
import type { ProjectFile } from '#application/files/project-file.ts';
import { Admission } from '#exchange/admission.ts';
import type { ByteBudget, ByteLimits } from '#exchange/byte-budget.ts';
import { keptCount } from '#exchange/held.ts';
import { createLineCaller } from '#gateway/batch/line-caller.ts';
import { chatService, messages } from '#test/gateway/support/chat-service.ts';
import { completion, json } from '#test/gateway/support/fake-provider.ts';
import { type GatewayServiceOptions, usualLimits } from '#test/gateway/support/gateway-service.ts';
import { caller } from '#test/http/support/fake-service.ts';

const kibibyte = 1024;

describe('createLineCaller', () => {
  const setting = chatService({ primary: json(completion('x'.repeat(100 * kibibyte))), backup: json(completion('')) });
  let answers: ByteBudget;

  /** @param body the limits of the bytes of bodies. Default: the usual ones */
  async function restart(options: GatewayServiceOptions = {}, body: Partial<ByteLimits> = {}): Promise<void> {
    const answer = { maxBytesPerProject: 100 * kibibyte, maxBytes: 300 * kibibyte };
    const admission = new Admission({ limits: { bytes: { body, answer } } });
    answers = admission.budgets.answer;
    await setting.restart(setting.configuration(), { ...options, admission });
  }

  beforeEach(() => restart());

  function call({ signal = new AbortController().signal, text = 'hi' } = {}): Promise<LineOutcome> {
    const { gateway } = setting.service;
    return createLineCaller(gateway, usualLimits).call(
      {
        customId: 'line',
        body: Buffer.from(JSON.stringify({ model: 'large', messages: [{ role: 'user', content: text }] })),
      },
      { endpoint: '/v1/chat/completions', batchId: 'batch_1', caller, idempotencyKey: 'k', signal },
    );
  }

  describe('endpoints', () => {
    const line = (endpoint: LineRequest['endpoint'], body: object): Promise<LineOutcome> => {
      const { gateway } = setting.service;
      const request = { batchId: 'batch_1', caller, idempotencyKey: 'k', signal: new AbortController().signal };
      const parsed = { customId: 'line', body: Buffer.from(JSON.stringify(body)) };
      return createLineCaller(gateway, usualLimits).call(parsed, { ...request, endpoint });
    };
    const bodyOf = (outcome: LineOutcome) => (outcome.kind === 'answer' ? JSON.parse(outcome.body.toString()) : null);
    beforeEach(() => setting.primary.answers(json(completion('Hello'))));

    it('answers a line of Responses, which is not stored', async () => {
      const response = bodyOf(await line('/v1/responses', { model: 'large', input: 'hi' }));
      assert.deepEqual([response.status, response.store], ['completed', false]);
      const { responses } = setting.service.gateway;
      assert.equal(await responses.turns.find(caller.projectId, response.id), null);
      const stored = await responses.add({
        projectId: caller.projectId,
        id: 'resp_1',
        inputText: '"before"',
        responseText: '{"id":"resp_1","output":[]}',
        provider: null,
        previous: null,
        referenced: [],
        names: [],
      });
      assert.equal(stored, 'stored');
      await line('/v1/responses', { model: 'large', input: 'more', previous_response_id: 'resp_1' });
      const sent = JSON.parse(setting.primary.seen.at(-1)?.body.toString() ?? '{}');
      assert.match(JSON.stringify(sent.messages), /"before".*"more"/);
    });

    it('answers a line of Messages, and its errors in their form', async () => {
      const message = bodyOf(await line('/v1/messages', { model: 'large', max_tokens: 9, messages }));
      assert.deepEqual(message.content, [{ type: 'text', text: 'Hello' }]);
      const refused = await line('/v1/messages', { model: 'large' });
      assert.ok(refused.kind === 'answer' && refused.status === 400);
      assert.equal(bodyOf(refused).type, 'error');
    });

    it('answers a line of embeddings', async () => {
      setting.primary.answers(json({ object: 'list', data: [{ object: 'embedding', index: 0, embedding: [1] }] }));
      const answer = bodyOf(await line('/v1/embeddings', { model: 'large', input: 'hi' }));
      assert.deepEqual(answer.data[0].embedding, [1]);
    });
  });

  describe('the form of a transcription', () => {
    const file = {
      ...{ filename: 'a.wav', contentType: 'audio/wav', bytes: 4 },
      open: async () => Readable.from([Buffer.from('RIFF')]),
    } as unknown as ProjectFile;
    const findFile = async () => file;
    let mostBytes: number;

    beforeEach(async () => {
      await restart({ findFile });
      setting.primary.answers(json({ text: 'hello' }));
    });

    const transcribe = async (members: string, limits = usualLimits): Promise<LineOutcome> => {
      const { gateway } = setting.service;
      const { body: bodies } = gateway.admission.budgets;
      const { count } = bodies;
      mostBytes = 0;
      bodies.count = (projectId, bytes) => {
        count.call(bodies, projectId, bytes);
        mostBytes = Math.max(mostBytes, bodies.bytes);
      };
      const body = Buffer.from(`{"model":"large","file":"file-1"${members === '' ? '' : `,${members}`}}`);
      const outcome = await createLineCaller(gateway, limits).call(
        { customId: 'line', body },
        {
          ...{ endpoint: '/v1/audio/transcriptions', batchId: 'batch_1', caller, idempotencyKey: 'k' },
          signal: new AbortController().signal,
        },
      );
      assert.equal(bodies.bytes, 0);
      return outcome;
    };
    const refusalOf = async (members: string) => {
      const outcome = await transcribe(members);
      assert.ok(outcome.kind === 'answer' && outcome.status === 422, JSON.stringify(outcome));
      return JSON.parse(outcome.body.toString()).error.message as string;
    };
    const fieldsSent = () =>
      Array.from(
        (setting.primary.seen.at(-1)?.body.toString() ?? '').matchAll(/name="([^"]+)"\r\n\r\n([^\r]*)\r\n/g),
        ([, name, text]) => [name, text],
      );

    it('has a field for each member and each item of a list, and none for null', async () => {
      const outcome = await transcribe(
        String.raw`"l\u0061nguage":"de","temperature":0.5,"stream":false,"prompt":null,"prompt":"\"Ü\"","include":["a",null,"b"],"chunking_strategy":{"type":"server_vad"},"language":"en"`,
      );
      assert.ok(outcome.kind === 'answer' && outcome.status === 200, JSON.stringify(outcome));
      assert.deepEqual(fieldsSent(), [
        ['model', 'gpt-x'],
        ['language', 'en'],
        ['temperature', '0.5'],
        ['stream', 'false'],
        ['prompt', '"Ü"'],
        ['include[]', 'a'],
        ['include[]', 'b'],
        ['chunking_strategy', '{"type":"server_vad"}'],
      ]);
    });

    it('refuses a list in a list before it makes a field of it', async () => {
      const deep = `"a":${'['.repeat(250)}${'1,'.repeat(100_000)}1${']'.repeat(250)}`;
      assert.match(await refusalOf(deep), /\/a must not hold a list in a list/);
      assert.equal(mostBytes, 0);
      assert.deepEqual(setting.primary.seen, []);
    });

    it('refuses more than a hundred fields, and more than 1 MiB of them', async () => {
      assert.match(await refusalOf(`"a":[${'1,'.repeat(200)}1]`), /at most 100 fields/);
      assert.match(await refusalOf(`"${'n'.repeat(100_000)}":[${'1,'.repeat(60)}1]`), /at most 1048576 bytes/);
      assert.match(await refusalOf(`"a":"${'x'.repeat(2_000_000)}"`), /at most 1048576 bytes/);
      assert.equal(mostBytes, 0);
    });

    it('counts its bytes before it is made, and is sent later when the node has no room', async () => {
      await transcribe(`"prompt":"${'x'.repeat(500_000)}"`);
      assert.ok(mostBytes > 1_000_000, `${mostBytes} bytes of the form and of its pieces`);
      await restart({ findFile }, { maxBytesPerProject: 400_000, maxBytes: 400_000 });
      assert.equal((await transcribe(`"prompt":"${'x'.repeat(500_000)}"`)).kind, 'later');
    });
  });

  it('ends the calls of large lines whose batch stops, also while they wait for their turn', async () => {
    setting.primary.answers(json(completion('Hello')));
    const text = 'x'.repeat(400 * kibibyte);
    for (let turns = 0; turns < 20; turns += 1) {
      const stopped = new AbortController();
      const { signal } = stopped;
      const calls = Array.from({ length: 4 }, () => call({ signal, text }));
      for (let turn = 0; turn < turns; turn += 1) await nextTurn();
      stopped.abort();
      for (const outcome of await Promise.all(calls)) {
        if (outcome.kind === 'answer') outcome.release();
        else assert.equal(outcome.kind, 'ended');
      }
    }
    assert.equal(answers.bytes, 0);
  });

  it('counts the bytes of an answer until it is not needed any more', async () => {
    const keptBefore = keptCount('batch line');
    const outcome = await call();
    assert.ok(outcome.kind === 'answer' && outcome.status === 200);
    assert.deepEqual([answers.bytes, keptCount('batch line')], [outcome.body.length, keptBefore + 1]);
    outcome.release();
    assert.deepEqual([answers.bytes, answers.projects, keptCount('batch line')], [0, 0, keptBefore]);
  });

  it('gives everything back when a call fails before it begins', async () => {
    const { gateway } = setting.service;
    gateway.acquireConfiguration = () => {
      throw new TypeError('a fault of the code');
    };
    await assert.rejects(call(), /a fault of the code/);
    assert.equal(gateway.limits.running, 0);
  });

  it('sends a line later while the answers of its project take the limit', async () => {
    answers.hold(caller.projectId).resize(100 * kibibyte);
    assert.equal((await call()).kind, 'later');
    assert.deepEqual(setting.primary.seen, []);
  });

  it('sends a line later whose answer finds no room on the node', async () => {
    answers.hold('another').resize(250 * kibibyte);
    assert.equal((await call()).kind, 'later');
    assert.equal(answers.bytes, 250 * kibibyte);
  });
});
