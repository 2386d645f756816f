import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { Admission } from '#exchange/admission.ts';
import { MemoryBody } from '#exchange/body.ts';
import { ByteBudget } from '#exchange/byte-budget.ts';
import { MemoryResponse } from '#exchange/client.ts';
import { Held } from '#exchange/held.ts';
import { slotTable } from '#exchange/slot-table.ts';
import { largeBodyBytes, spendTurn, workOfTurn } from '#exchange/turns.ts';
import { SpoolFolder } from '#gateway/audio/spool-folder.ts';
import { builtInConfiguration } from '#gateway/config/configuration-file.ts';
import { Gateway } from '#gateway/gateway.ts';
import { gatewayOperations } from '#gateway/operations.ts';
import type { CallRecord } from '#gateway/relay/call-record.ts';
import { FreeSpace } from '#shared/files/free-space.ts';
import { configurationOf, usualLimits } from '#test/gateway/support/gateway-service.ts';
import { caller } from '#test/http/support/fake-service.ts';
import { inMemoryResponses } from '#test/support/fakes/in-memory-response-store.ts';

const json = { 'content-type': 'application/json' };
const messages = [{ role: 'user', content: 'Hello' }];

describe('a gateway call without a connection', () => {
  let gateway: Gateway;
  let records: CallRecord[];
  let bodies: ByteBudget;
  let answers: ByteBudget;

  beforeEach(() => {
    records = [];
    answers = new ByteBudget(slotTable.bytes.answer.limits);
    bodies = new ByteBudget(slotTable.bytes.body.limits);
    gateway = new Gateway({
      admission: new Admission(),
      configuration: configurationOf(builtInConfiguration),
      environment: {},
      usage: { record: (record) => void records.push(record) },
      attempts: { attempt: () => undefined },
      node: 'node-1',
      log: { warn: () => undefined },
      responses: inMemoryResponses(),
      findFile: async () => null,
      spools: new SpoolFolder({
        folder: tmpdir(),
        budget: new Admission().budgets.spool,
        freeSpace: new FreeSpace({ folders: [], minFreeBytes: 0 }),
      }),
    });
  });
  afterEach(() => gateway.close());

  /** Runs one operation with its request and response in memory. */
  async function call(
    name: string,
    body: string | Buffer,
    headers: Record<string, string> = json,
    response = new MemoryResponse(10_000_000, answers.hold(caller.projectId)),
  ): Promise<MemoryResponse> {
    const operation = gatewayOperations(gateway, usualLimits).find((each) => each.name === name);
    const held = new Held(caller.projectId, { body: bodies, answer: answers });
    response.onDisconnect(() => held.leave());
    const request = {
      headers,
      query: '',
      body: new MemoryBody(Buffer.from(body)),
      client: response,
      held,
      parameters: {},
      caller,
      id: 'call-in-memory',
      operation: name,
      target: name,
      maxPageBytes: Number.POSITIVE_INFINITY,
      startedAt: performance.now(),
    };
    await held.run(() => operation?.relay(request));
    held.release();
    return response;
  }

  it('answers a chat completion in one piece, in memory', async () => {
    const response = await call('complete_chat', JSON.stringify({ model: 'auto', messages }));
    assert.equal(response.status, 200);
    assert.ok(response.isComplete);
    assert.equal(response.headers['content-type'], 'application/json');
    assert.equal(response.headers['cache-control'], 'no-store');
    assert.match(JSON.parse(response.body.toString()).choices[0].message.content, /You said: Hello/);
    assert.deepEqual(
      records.map(({ operation, outcome }) => [operation, outcome]),
      [['chat', 'served']],
    );
  });

  it('streams a chat completion event by event to its end, in memory', async () => {
    const response = await call('complete_chat', JSON.stringify({ model: 'auto', messages, stream: true }));
    assert.equal(response.status, 200);
    assert.ok(response.isComplete);
    assert.match(response.headers['content-type'] ?? '', /^text\/event-stream/);
    assert.match(response.body.toString(), /^data: \{.*\n\ndata: \[DONE\]\n\n$/s);
  });

  it('answers speech with audio, in memory', async () => {
    const response = await call('create_speech', JSON.stringify({ input: 'Hello', voice: 'alloy' }));
    assert.equal(response.status, 200);
    assert.ok(response.isComplete);
    assert.match(response.headers['content-type'] ?? '', /^audio\//);
    assert.ok(response.body.length > 1_000);
  });

  it('answers a transcription of an upload, in memory', async () => {
    const part = (disposition: string, content: string) =>
      `--b\r\nContent-Disposition: form-data; ${disposition}\r\n\r\n${content}\r\n`;
    const upload = `${part('name="model"', 'auto')}${part('name="file"; filename="a.wav"', 'sound')}--b--\r\n`;
    const response = await call('create_transcription', upload, { 'content-type': 'multipart/form-data; boundary=b' });
    assert.equal(response.status, 200);
    assert.ok(response.isComplete);
    assert.equal(typeof JSON.parse(response.body.toString()).text, 'string');
    assert.equal(bodies.bytes, 0);
  });

  it('refuses a call in memory with the error that a connection would get', async () => {
    const response = await call('complete_chat', JSON.stringify({ model: 'unknown', messages }));
    assert.equal(response.status, 404);
    assert.equal(JSON.parse(response.body.toString()).error.code, 'model_not_found');
    const compressed = await call('complete_chat', '{}', { ...json, 'content-encoding': 'gzip' });
    assert.equal(compressed.status, 415);
  });

  it('ends a call in memory as if the client had left when its response is too large', async () => {
    const response = await call(
      'complete_chat',
      JSON.stringify({ model: 'auto', messages, stream: true }),
      json,
      new MemoryResponse(100, answers.hold(caller.projectId)),
    );
    assert.ok(!response.isComplete);
    assert.ok(response.isDisconnected);
    assert.ok(response.body.length <= 100);
    assert.deepEqual(
      records.map(({ outcome }) => outcome),
      ['client-gone'],
    );
  });

  it('records a call whose client leaves while the request to its target waits for a turn', async () => {
    const response = new MemoryResponse(10_000, answers.hold(caller.projectId));
    const configuration = gateway.acquireConfiguration();
    const { catalogue } = configuration;
    Object.defineProperty(configuration, 'catalogue', {
      get: () => {
        response.disconnect();
        spendTurn({ owner: caller.projectId, hasLeft: false }, 'body', workOfTurn);
        return catalogue;
      },
    });
    const large = [{ role: 'user', content: 'Hello '.repeat(largeBodyBytes) }];
    await call('create_message', JSON.stringify({ model: 'auto', max_tokens: 5, messages: large }), json, response);
    gateway.releaseConfiguration(configuration);
    assert.deepEqual(
      records.map(({ outcome, attempts }) => [outcome, attempts]),
      [['client-gone', []]],
    );
  });
});
