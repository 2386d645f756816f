import assert from 'node:assert/strict';
import { ApiError, allIds, type Batch, FilesClient } from '#test/e2e/support/files-client.ts';
import { GatewayScenario } from '#test/e2e/support/gateway-scenario.ts';
import { newKey, newProject } from '#test/e2e/support/tenants.ts';
import { type Behaviour, bytes, completion, error, json } from '#test/gateway/support/fake-provider.ts';
import { describeOnEngines } from '#test/support/service/engines.ts';
import { poll } from '#test/support/service/service-process.ts';

interface OutputLine {
  readonly id: string;
  readonly custom_id: string;
  readonly response: { status_code: number; request_id: string; body: Record<string, never> } | null;
  readonly error: { code: string; message: string } | null;
}

/** The limit of a wait. It only keeps a test from hanging. */
const settleTimeoutMs = 60_000;
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Repeats a request while a store is unavailable for a moment, as on a busy machine. */
const patientFetch: typeof fetch = async (url, init) => {
  const answer = await poll(async () => {
    const given = await fetch(url, init);
    return given.status === 503 ? null : given;
  }, settleTimeoutMs);
  return answer ?? fetch(url, init);
};

/** Answers a chat with the text of its last message, and refuses every n-th chat. */
const echo =
  ({ delayMs = 0, refused = (_: string): boolean => false } = {}): Behaviour =>
  async (res, seen) => {
    const body = JSON.parse(seen.body.toString()) as { messages: ReadonlyArray<{ content: string }> };
    const said = body.messages.at(-1)?.content ?? '';
    if (delayMs > 0) await pause(delayMs);
    return refused(said)
      ? error(400, 'bad_words', {}, `not ${said}`)(res, seen)
      : json(completion(`heard ${said}`))(res, seen);
  };

describeOnEngines('batches', (engines) => {
  let story: GatewayScenario;
  let key: string;
  let keyId: string;
  let client: FilesClient;

  before(async () => {
    story = await GatewayScenario.begin({ READ_YOUR_WRITES_TIMEOUT_MS: '10000', ...engines.environment() });
  });
  after(() => story.end());
  beforeEach(async () => {
    const made = await newKey(story.service.client, await newProject(story.service.client), 'project');
    ({ key, id: keyId } = made);
    client = new FilesClient(story.service.url, key, patientFetch);
    story.primary.answers(echo());
  });

  const chatLine = (id: string, body: object = {}) =>
    JSON.stringify({
      custom_id: id,
      method: 'POST',
      url: '/v1/chat/completions',
      body: { model: 'alone', messages: [{ role: 'user', content: id }], ...body },
    });
  const uploaded = (text: string, purpose = 'batch') => client.upload(text, 'input.jsonl', { purpose });
  const begin = async (text: string, endpoint = '/v1/chat/completions') =>
    client.createBatch({
      input_file_id: (await uploaded(text)).id,
      endpoint,
      completion_window: '24h',
      metadata: { run: 'one' },
    });
  const ended = async (id: string): Promise<Batch> => {
    const isOver = ['completed', 'failed', 'expired', 'cancelled'];
    const batch = await poll(async () => {
      const now = await client.batch(id);
      return isOver.includes(now.status) && (now.status !== 'failed' || now.errors !== undefined) ? now : null;
    }, settleTimeoutMs);
    return batch ?? assert.fail(JSON.stringify(await client.batch(id)));
  };
  const linesOf = async (fileId: string | null | undefined): Promise<ReadonlyArray<OutputLine>> => {
    if (fileId == null) return [];
    const text = await (await client.content(fileId)).text();
    return text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as OutputLine);
  };
  const refusalOf = (call: Promise<unknown>): Promise<ApiError> =>
    call.then(
      () => assert.fail('it was taken'),
      (thrown: unknown) => (thrown instanceof ApiError ? thrown : assert.fail(String(thrown))),
    );

  it('call the model for every line, and write answers and refusals to files', async () => {
    story.primary.answers(echo({ refused: (said) => said.endsWith('7') }));
    const ids = Array.from({ length: 40 }, (_, index) => `line-${index}`);
    const batch = await begin(`${ids.map((id) => chatLine(id)).join('\n')}\n`);
    assert.match(batch.id, /^batch_[0-9a-z]{8,}$/);
    assert.deepEqual(
      [batch.object, batch.endpoint, batch.completion_window, batch.metadata],
      ['batch', '/v1/chat/completions', '24h', { run: 'one' }],
    );
    assert.equal(batch.expires_at, batch.created_at + 86_400);
    const done = await ended(batch.id);
    assert.equal(done.status, 'completed', JSON.stringify(done));
    assert.deepEqual(done.request_counts, { total: 40, completed: 36, failed: 4 });
    for (const time of [done.in_progress_at, done.finalizing_at, done.completed_at]) assert.ok((time ?? 0) > 0);
    const output = await linesOf(done.output_file_id);
    const errors = await linesOf(done.error_file_id);
    assert.deepEqual([...output, ...errors].map((line) => line.custom_id).toSorted(), ids.toSorted());
    for (const { id, custom_id, response, error: none } of output) {
      assert.match(id, /^batch_req_/);
      assert.deepEqual([response?.status_code, none], [200, null]);
      assert.match(JSON.stringify(response?.body), new RegExp(`"content":"heard ${custom_id}"`));
    }
    for (const { custom_id, response } of errors) {
      assert.equal(response?.status_code, 400);
      assert.match(JSON.stringify(response?.body), new RegExp(`"message":"not ${custom_id}"`));
    }
    const listed = await client.files({ purpose: 'batch_output' });
    assert.deepEqual(listed.data.map(({ id }) => id).toSorted(), [done.output_file_id, done.error_file_id].toSorted());
    const keys = story.primary.seen.map(({ headers }) => headers['idempotency-key']);
    assert.equal(new Set(keys).size, 40);
  });

  it('name the invalid lines of an input, and keep its file', async () => {
    const lines = [
      chatLine('a'),
      '{"custom_id": "b"',
      chatLine('a'),
      chatLine('c').replace('POST', 'GET'),
      chatLine('d').replace('/v1/chat/completions', '/v1/moderations'),
      JSON.stringify({ custom_id: 'e', method: 'POST', url: '/v1/chat/completions' }),
      '[]',
    ];
    const batch = await ended((await begin(lines.join('\n'))).id);
    assert.equal(batch.status, 'failed');
    assert.deepEqual(
      batch.errors?.data?.map(({ line, code }) => [line, code]),
      [
        [2, 'invalid_json_line'],
        [3, 'duplicate_custom_id'],
        [4, 'invalid_method'],
        [5, 'mismatched_endpoint'],
        [6, 'invalid_body'],
        [7, 'invalid_json_line'],
      ],
    );
    assert.deepEqual([batch.output_file_id, batch.error_file_id, story.primary.seen.length], [null, null, 0]);
    const empty = await ended((await begin('\n \n')).id);
    assert.deepEqual(
      empty.errors?.data?.map(({ line, code }) => [line, code]),
      [[null, 'empty_file']],
    );
    await client.deleteFile(batch.input_file_id);
  });

  it('refuse an invalid batch', async () => {
    const { id } = await uploaded(chatLine('a'));
    const create = (change: object) =>
      refusalOf(
        client.createBatch({
          ...{ input_file_id: id, endpoint: '/v1/chat/completions', completion_window: '24h' },
          ...change,
        }),
      );
    assert.equal((await create({ endpoint: '/v1/moderations' })).status, 422);
    assert.equal((await create({ completion_window: '1h' })).status, 422);
    assert.equal((await create({ input_file_id: 'file-unknown0000' })).status, 404);
    assert.equal((await create({ input_file_id: (await uploaded('x', 'user_data')).id })).status, 422);
    assert.equal((await create({ metadata: { a: 'x'.repeat(513) } })).status, 422);
    assert.equal((await refusalOf(client.batch('batch_unknown000'))).status, 404);
  });

  it('are accessible only to their own project, and are listed from the newest', async () => {
    const first = await begin(chatLine('a'));
    const second = await begin(chatLine('b'));
    assert.deepEqual(await allIds((query) => client.batches(query)), [second.id, first.id]);
    const { key: other } = await newKey(story.service.client, await newProject(story.service.client), 'project');
    const stranger = new FilesClient(story.service.url, other, patientFetch);
    for (const call of ['batch', 'cancelBatch'] as const)
      assert.equal((await refusalOf(stranger[call](first.id))).status, 404);
    assert.deepEqual((await stranger.batches()).data, []);
  });

  it('refuse a line that requests a stream or an unknown model, and continue', async () => {
    const text = [chatLine('a', { stream: true }), chatLine('b', { model: 'nothing' }), chatLine('c')].join('\n');
    const batch = await ended((await begin(text)).id);
    assert.deepEqual(batch.request_counts, { total: 3, completed: 1, failed: 2 });
    // The SDK repeats a 409 unless the answer says that this is in vain.
    const cancelled = await story.service.client.as(key).post(`/v1/batches/${batch.id}/cancel`, {});
    assert.deepEqual([cancelled.status, cancelled.headers['x-should-retry']], [409, 'false']);
    const errors = await linesOf(batch.error_file_id);
    assert.deepEqual(errors.map(({ custom_id, response }) => [custom_id, response?.status_code]).toSorted(), [
      ['a', 422],
      ['b', 404],
    ]);
  });

  it('write the failures of one line in ten to the error file', async () => {
    const echoes = echo();
    story.primary.answers((res, seen) =>
      /line-\d*5\b/.test(String(seen.body)) ? error(500, 'server_error', {}, 'broken')(res, seen) : echoes(res, seen),
    );
    const ids = Array.from({ length: 50 }, (_, index) => `line-${index}`);
    const batch = await ended((await begin(ids.map((id) => chatLine(id)).join('\n'))).id);
    assert.deepEqual([batch.status, batch.request_counts], ['completed', { total: 50, completed: 45, failed: 5 }]);
    const errors = await linesOf(batch.error_file_id);
    assert.deepEqual(
      errors.map(({ custom_id, response }) => [custom_id, response?.status_code]).toSorted(),
      ['line-15', 'line-25', 'line-35', 'line-45', 'line-5'].map((id) => [id, 502]),
    );
    assert.match(JSON.stringify(errors[0]?.response?.body), /"error":\{"message"/);
  });

  it('keep the finished lines when a batch is cancelled', async () => {
    // All lines together take far longer than the test needs to cancel.
    story.primary.answers(echo({ delayMs: 600 }));
    const ids = Array.from({ length: 400 }, (_, index) => `line-${index}`);
    const { id, input_file_id } = await begin(ids.map((each) => chatLine(each)).join('\n'));
    assert.ok(await poll(async () => (await client.batch(id)).request_counts?.completed || null, settleTimeoutMs));
    assert.equal((await refusalOf(client.deleteFile(input_file_id))).status, 409);
    assert.equal((await client.cancelBatch(id)).status, 'cancelling');
    const batch = await ended(id);
    assert.equal(batch.status, 'cancelled');
    const output = await linesOf(batch.output_file_id);
    assert.equal(output.length, batch.request_counts?.completed);
    assert.ok(output.length > 0 && output.length < 400);
    assert.equal(new Set(output.map((line) => line.custom_id)).size, output.length);
    assert.equal((await refusalOf(client.cancelBatch('batch_unknown000'))).status, 404);
    await client.deleteFile(input_file_id);
  });

  it('stop when their key is revoked, and keep the finished lines', async () => {
    story.primary.answers(echo({ delayMs: 600 }));
    const ids = Array.from({ length: 400 }, (_, index) => `line-${index}`);
    const { id } = await begin(ids.map((each) => chatLine(each)).join('\n'));
    assert.ok(await poll(async () => (await client.batch(id)).request_counts?.completed || null, settleTimeoutMs));
    const admin = story.service.client;
    assert.equal((await admin.remove(`/v1/keys/${keyId}`)).status, 200);
    const failed = await poll(async () => {
      const { body } = await admin.get<Batch>(`/v1/batches/${id}`);
      return body.status === 'failed' ? body : null;
    }, settleTimeoutMs);
    const asked = story.primary.seen.length;
    assert.ok(asked < 400, `${asked} lines were asked`);
    assert.deepEqual(
      failed?.errors?.data?.map(({ code }) => code),
      ['key_revoked'],
    );
    await pause(500);
    assert.equal(story.primary.seen.length, asked, 'no line is asked any more');
    const output = await poll(async () => {
      const { body } = await admin.get<Batch>(`/v1/batches/${id}`);
      return body.output_file_id ?? null;
    }, settleTimeoutMs);
    assert.ok(output);
  });

  it('write speech to files, and transcribe files', async () => {
    const spoken = Buffer.from('some audio');
    story.primary.answers(bytes(spoken, { 'content-type': 'audio/mpeg' }));
    const speech = JSON.stringify({
      custom_id: 'speech',
      method: 'POST',
      url: '/v1/audio/speech',
      body: { input: 'Hello', voice: 'narrator' },
    });
    const first = await ended((await begin(speech, '/v1/audio/speech')).id);
    assert.equal(first.status, 'completed', JSON.stringify(first));
    const [line] = await linesOf(first.output_file_id);
    const file_id = String((line?.response?.body as { file_id?: string } | undefined)?.file_id);
    assert.deepEqual(Buffer.from(await (await client.content(file_id)).arrayBuffer()), spoken);

    story.primary.answers(json({ text: 'Hello' }));
    const transcriptions = [file_id, 'file-unknown0000'].map((file, index) =>
      JSON.stringify({
        custom_id: `t${index}`,
        method: 'POST',
        url: '/v1/audio/transcriptions',
        body: { file, model: 'alone', language: 'en' },
      }),
    );
    const second = await ended((await begin(transcriptions.join('\n'), '/v1/audio/transcriptions')).id);
    assert.deepEqual(second.request_counts, { total: 2, completed: 1, failed: 1 }, JSON.stringify(second));
    const [heard] = await linesOf(second.output_file_id);
    assert.deepEqual(heard?.response?.body, { text: 'Hello' });
    const [missing] = await linesOf(second.error_file_id);
    assert.equal(missing?.response?.status_code, 404);
    const [sent] = story.primary.seen;
    assert.ok(sent?.body.includes(spoken), String(sent?.body));
    assert.ok(sent?.body.includes('name="language"\r\n\r\nen'), String(sent?.body));
  });
});
