import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RecordedCall } from '#domain/usage/recorded-call.ts';
import { expectStatus } from '#test/e2e/support/expect.ts';
import { GatewayScenario } from '#test/e2e/support/gateway-scenario.ts';
import { newHolder, newKey, newProject } from '#test/e2e/support/tenants.ts';
import {
  bytes,
  completion,
  done,
  error,
  json,
  reset,
  stop,
  stream,
  words,
} from '#test/gateway/support/fake-provider.ts';
import type { Client } from '#test/support/service/client.ts';
import { describeOnEngines } from '#test/support/service/engines.ts';
import { poll } from '#test/support/service/service-process.ts';

type Calls = { readonly calls: ReadonlyArray<RecordedCall>; readonly nextCursor?: string };

const settleTimeoutMs = 60_000;
const usageChunk = `data: ${JSON.stringify({ choices: [], usage: { prompt_tokens: 5, completion_tokens: 7 } })}\n\n`;
/** It is in everything that is said, by clients and by providers. */
const canary = 'canary-7d1f';

describeOnEngines('records of calls', (engines) => {
  let story: GatewayScenario;
  let admin: Client;
  let projectId: string;
  let caller: Client;

  before(async () => {
    story = await GatewayScenario.begin(engines.environment());
    admin = story.service.client;
  });
  after(() => story.end());
  beforeEach(async () => {
    projectId = await newProject(admin);
    caller = await newHolder(admin, projectId, 'project');
    story.primary.answers(json(completion(canary)));
    story.backup.answers(json(completion(canary)));
  });

  const chat = (body: object = {}, requestId = `request-${Math.random()}`, client = caller) =>
    client.post<{ error?: { message: string } }>(
      '/v1/chat/completions',
      { model: 'large', messages: [{ role: 'user', content: canary }], ...body },
      { 'x-request-id': requestId },
    );
  /** The record of a request, which appears about a second after its end. */
  const callsOf = async (requestId: string, client = caller, query = ''): Promise<ReadonlyArray<RecordedCall>> => {
    const path = `/v1/gateway/calls/${requestId}${query}`;
    const found = await poll(async () => {
      const answer = await client.get<Calls>(path);
      return answer.status === 404 ? null : expectStatus(answer, 200).calls;
    }, settleTimeoutMs);
    return found ?? assert.fail(`${path} is not found`);
  };
  const listed = async (query = '', client = caller) =>
    expectStatus(await client.get<Calls>(`/v1/gateway/calls${query}`), 200);

  it('name each attempt of a call with its status, its reason and its times', async () => {
    story.primary.answers(error(500, 'x', {}, canary), reset);
    const answer = await chat({}, 'attempts');
    assert.deepEqual([answer.status, answer.headers['x-switchyard-target']], [200, 'backup/other-y']);
    const [call, ...others] = await callsOf('attempts');
    assert.deepEqual([others, call?.outcome, call?.model, call?.operation], [[], 'served', 'large', 'chat']);
    assert.equal(call?.callsRepresented, 1);
    const shown = (seen: RecordedCall | undefined) =>
      seen?.attempts.map(({ targetNumber, target, result, status, reason }) => [
        targetNumber,
        target,
        result,
        status,
        reason,
      ]);
    assert.deepEqual(shown(call), [
      [1, null, 'failed', 500, 'provider_failed'],
      [1, null, 'failed', null, 'provider_reset'],
      [2, 'backup/other-y', 'served', 200, null],
    ]);
    const [byAdmin] = await callsOf('attempts', admin, `?projectId=${projectId}`);
    assert.deepEqual(
      shown(byAdmin)?.map(([, target]) => target),
      ['primary/gpt-x', 'primary/gpt-x', 'backup/other-y'],
    );
    const [first, second, third] = call?.attempts ?? [];
    assert.ok(first && second && third && call);
    assert.ok(first.startMs <= second.startMs && second.startMs <= third.startMs);
    assert.ok(third.startMs + third.durationMs <= call.totalMs + 1, JSON.stringify(call));
    assert.ok(Math.abs(Date.parse(call.time) - Date.now()) < settleTimeoutMs);
  });

  it('say why a call failed, in the words of the gateway alone', async () => {
    story.primary.answers(error(400, canary, {}, canary));
    assert.equal((await chat({ model: 'alone' }, 'refused')).status, 400);
    const [call] = await callsOf('refused');
    assert.deepEqual(
      [call?.outcome, call?.reason, call?.attempts[0]?.reason],
      ['refused', 'provider_refused', 'provider_refused'],
    );
  });

  it('have the cost, like the answer, for keys that may read usage', async () => {
    const withoutUsage = await newHolder(admin, projectId, 'project', ['gateway:read', 'gateway:write']);
    const [paid, unpaid] = [await chat({}, 'cost-1'), await chat({}, 'cost-2', withoutUsage)];
    assert.deepEqual([paid.headers['x-switchyard-cost'], unpaid.headers['x-switchyard-cost']], ['0.000078', undefined]);
    const [call] = await callsOf('cost-1');
    assert.deepEqual([call?.cost, call?.inputTokens, call?.outputTokens], [0.000078, 5, 7]);
    assert.ok(!('cost' in ((await callsOf('cost-1', withoutUsage))[0] ?? { cost: 0 })));
  });

  it('have the cost that the head of a stream cannot have, and a speech has it immediately', async () => {
    story.primary.answers(stream([...words('one', canary), stop, usageChunk, done]));
    const streamed = await chat({ stream: true }, 'stream');
    assert.deepEqual([streamed.status, streamed.headers['x-switchyard-cost']], [200, undefined]);
    const [call] = await callsOf('stream');
    assert.deepEqual([call?.streamed, call?.cost], [true, 0.000078]);
    story.primary.answers(bytes(Buffer.from('audio'), { 'content-type': 'audio/mpeg' }));
    const spoken = await caller.post('/v1/audio/speech', { input: 'x'.repeat(1_000), voice: 'narrator' });
    assert.deepEqual([spoken.status, spoken.headers['x-switchyard-cost']], [200, '0.015']);
  });

  it('are of one project: to the key of another one they do not exist', async () => {
    await chat({}, 'mine');
    await callsOf('mine');
    const otherProject = await newProject(admin);
    const stranger = await newHolder(admin, otherProject, 'project');
    assert.equal((await stranger.get('/v1/gateway/calls/mine')).status, 404);
    assert.equal((await stranger.get(`/v1/gateway/calls/mine?projectId=${projectId}`)).status, 404);
    assert.equal((await stranger.get(`/v1/gateway/calls?projectId=${projectId}`)).status, 404);
    assert.deepEqual((await listed('', stranger)).calls, []);
    assert.equal((await caller.get('/v1/gateway/calls/unknown')).status, 404);
    const writer = await newHolder(admin, projectId, 'project', ['gateway:write']);
    assert.equal((await writer.get('/v1/gateway/calls')).status, 403);
  });

  it('list all calls with the same request id', async () => {
    for (let index = 0; index < 3; index += 1) await chat({}, 'again');
    assert.ok(await poll(async () => (await callsOf('again')).length === 3, settleTimeoutMs));
  });

  it('are listed, newest first, filtered and in pages', async () => {
    const { id: keyId, key } = await newKey(admin, projectId, 'project');
    await chat({}, 'one');
    await chat({ model: 'sandbox' }, 'two');
    story.primary.answers(error(400, 'x'));
    await chat({ model: 'alone' }, 'three', admin.as(key));
    assert.ok(await poll(async () => (await listed()).calls.length === 3, settleTimeoutMs));
    const ids = async (query: string) => (await listed(query)).calls.map(({ requestId }) => requestId);
    assert.deepEqual(await ids(''), ['three', 'two', 'one']);
    assert.deepEqual(await ids('?model=sandbox'), ['two']);
    assert.deepEqual(await ids('?outcome=refused'), ['three']);
    assert.deepEqual(await ids(`?keyId=${keyId}`), ['three']);
    const [, middle] = (await listed()).calls;
    assert.deepEqual(await ids(`?until=${middle?.time}`), ['one']);
    assert.deepEqual(await ids(`?from=${middle?.time}&outcome=served`), ['two']);
    const first = await listed('?limit=2');
    assert.deepEqual(
      (await listed(`?limit=2&cursor=${first.nextCursor}`)).calls.map(({ requestId }) => requestId),
      ['one'],
    );
    assert.equal((await caller.get('/v1/gateway/calls?outcome=lost')).status, 422);
  });

  it('name the batch of a line', async () => {
    const line = { custom_id: 'a', method: 'POST', url: '/v1/chat/completions' };
    const body = { model: 'alone', messages: [{ role: 'user', content: canary }] };
    const form = new FormData();
    form.set('purpose', 'batch');
    form.set('file', new Blob([`${JSON.stringify({ ...line, body })}\n`]), 'input.jsonl');
    const { key } = await newKey(admin, projectId, 'project');
    const uploaded = await fetch(`${story.baseURL}/files`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}` },
      body: form,
    });
    const { id } = (await uploaded.json()) as { id: string };
    const made = { input_file_id: id, endpoint: '/v1/chat/completions', completion_window: '24h' };
    const batch = expectStatus(await admin.as(key).post<{ id: string }>('/v1/batches', made), 200);
    const call = await poll(async () => (await listed()).calls[0] ?? null, settleTimeoutMs);
    assert.deepEqual([call?.batchId, call?.outcome, call?.model], [batch.id, 'served', 'alone']);
  });

  it('hold nothing that was said, by clients or by providers', async () => {
    story.primary.answers(error(429, canary, {}, canary), json({ error: { message: canary, code: canary } }));
    story.backup.answers(stream([canary]));
    await chat({ user: canary, stream: true }, 'said');
    await callsOf('said');
    const { text } = await caller.get('/v1/gateway/calls');
    assert.ok(!text.includes(canary), text);
    const { dataDir } = story.service;
    for (const name of readdirSync(dataDir).filter((file) => file.startsWith('gateway-calls.db')))
      assert.ok(!readFileSync(join(dataDir, name)).includes(canary), name);
  });

  it('are counted when there is no room for them', async () => {
    await chat({}, 'kept');
    await callsOf('kept');
    const metrics = await (await fetch(`${story.service.url}/metrics`)).text();
    assert.match(metrics, /switchyard_call_records_dropped_total 0\n/);
    assert.match(metrics, /switchyard_call_records_removed_total 0\n/);
  });
});
