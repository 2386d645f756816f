import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expectStatus } from '#test/e2e/support/expect.ts';
import { GatewayScenario } from '#test/e2e/support/gateway-scenario.ts';
import { newHolder, newKey, newOrganization, newProject } from '#test/e2e/support/tenants.ts';
import { completion, error, json, role, stream, words } from '#test/gateway/support/fake-provider.ts';
import type { Client } from '#test/support/service/client.ts';
import { describeOnEngines } from '#test/support/service/engines.ts';
import { startEventsTool, toolExit } from '#test/support/service/events-tool.ts';
import { poll } from '#test/support/service/service-process.ts';

interface Response {
  readonly id: string;
  readonly store: boolean;
  readonly output: ReadonlyArray<{ readonly content: ReadonlyArray<{ readonly text: string }> }>;
}

/** It is in everything that is said, by clients and by providers. */
const canary = 'canary-5e9b';
const settleTimeoutMs = 60_000;
const signingKey = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();

describeOnEngines('stored responses', (engines) => {
  let story: GatewayScenario;
  let projectId: string;
  let key: Client;
  let path: string;

  before(async () => {
    story = await GatewayScenario.begin({
      ...engines.environment(),
      LOG_LEVEL: 'info',
      DIGEST_SIGNING_KEY: signingKey,
    });
  });
  after(() => story.end());
  beforeEach(async () => {
    projectId = await newProject(story.service.client);
    key = await newHolder(story.service.client, projectId, 'project');
    path = `/v1/projects/${projectId}/responses`;
    story.primary.answers(json(completion(canary)));
    story.backup.answers(json(completion(`${canary} from the backup`)));
  });

  const create = async (body: object, client = key) =>
    expectStatus(await client.post<Response>('/v1/responses', { model: 'large', input: canary, ...body }), 200);
  const read = (id: string, client = key) => client.get<Response>(`/v1/responses/${id}`);
  const amount = async (client = key) =>
    expectStatus(await client.get<{ count: number; bytes: number; oldestAt: string | null }>(path), 200);

  it('are counted for their project, by number, bytes and age, and never shown there', async () => {
    assert.deepEqual(await amount(), {
      ...{ projectId, count: 0, bytes: 0, oldestAt: null },
      ...{ quotaBytes: 1024 ** 3, ttlDays: 30 },
    });
    const first = await create({});
    await create({ previous_response_id: first.id });
    const { count, bytes, oldestAt } = await amount();
    assert.deepEqual([count, bytes > 1_000], [2, true]);
    assert.ok(Math.abs(Date.parse(oldestAt ?? '') - Date.now()) < settleTimeoutMs);
    const stranger = await newHolder(story.service.client, await newProject(story.service.client), 'project');
    assert.equal((await stranger.get(path)).status, 404);
    assert.equal((await stranger.remove(path)).status, 404);
  });

  it('continue a conversation with a fallback', async () => {
    const first = await create({});
    story.primary.answers(error(500, 'x'));
    const second = await create({ previous_response_id: first.id, input: 'more' });
    assert.equal(second.output[0]?.content[0]?.text, `${canary} from the backup`);
    const sent = JSON.parse(story.backup.seen.at(-1)?.body.toString() ?? '{}');
    assert.deepEqual(
      sent.messages.map(({ content }: { content: string }) => content),
      [canary, canary, 'more'],
    );
  });

  it('are erased for a project, whose later responses are stored again', async () => {
    const first = await create({});
    const { client } = story.service;
    const other = await newHolder(client, await newProject(client), 'project');
    const kept = await create({}, other);
    expectStatus(await key.remove(path), 204);
    assert.equal((await read(first.id)).status, 404);
    assert.deepEqual([(await amount()).count, (await amount()).bytes], [0, 0]);
    assert.equal((await read(kept.id, other)).status, 200);
    const second = await create({});
    assert.equal((await read(second.id)).status, 200);
    const { text } = await client.get(`/v1/projects/${projectId}/history`);
    assert.match(text, /All stored responses of the project were erased\./);
  });

  it('are erased with the personal data of a customer, for all its projects', async () => {
    const { client } = story.service;
    const partnerId = await newOrganization(client, true);
    const partner = await newHolder(client, await newProject(client, partnerId), 'partner');
    const made = await partner.post<{ organizationId: string; projectId: string }>('/v1/partner/customers', {
      name: 'Dr. Weber',
      clientEmail: 'office@example.com',
    });
    const customer = expectStatus(made, 201);
    const second = await newProject(partner, customer.organizationId);
    const holders = await Promise.all([customer.projectId, second].map((id) => newHolder(partner, id, 'project')));
    const stored = await Promise.all(holders.map((holder) => create({}, holder)));
    expectStatus(await partner.remove(`/v1/partner/customers/${customer.organizationId}/personal-data`), 200);
    for (const [index, holder] of holders.entries()) {
      const isGone = await poll(
        async () => (await read(stored[index]?.id ?? '', holder)).status === 404,
        settleTimeoutMs,
      );
      assert.ok(isGone, `project ${index}`);
    }
  });

  it('are in nothing else: no log line, event, audit, export, digest, record of a call or metric', async () => {
    const first = await create({ user: canary, metadata: { note: canary } });
    await create({ previous_response_id: first.id, stream: true }).catch(() => undefined);
    story.primary.answers(error(400, 'refused', {}, canary));
    await key.post('/v1/responses', { model: 'alone', input: canary, previous_response_id: first.id });
    await key.post('/v1/responses', { model: 'alone', input: canary, previous_response_id: canary });
    await key.post('/v1/responses', {
      model: 'alone',
      input: [{ type: 'item_reference', id: 'x' }],
      instructions: canary,
    });
    await key.remove(path);
    const { client, url, dataDir } = story.service;
    expectStatus(await client.post('/v1/digests'), 200);
    const calls = await poll(async () => {
      const { text } = await key.get('/v1/gateway/calls');
      return text.includes('"operation":"responses"') ? text : null;
    }, settleTimeoutMs);
    const texts: Record<string, string> = {
      calls: calls ?? assert.fail('there is no record of the calls'),
      audit: (await client.get('/v1/audit?limit=1000')).text,
      usage: (await client.get('/v1/usage?groupBy=endpoint,key')).text,
      metrics: await (await fetch(`${url}/metrics`)).text(),
      log: story.service.stdout + story.service.stderr,
    };
    const store = engines.environment().EVENT_STORE_URL ?? `sqlite:${join(dataDir, 'events.db')}`;
    const exported = await toolExit(startEventsTool(['export', '-', '--store', store], {}));
    texts.export = exported.stdout;
    assert.match(exported.stdout, /ProjectResponsesErased/, exported.stderr);
    for (const [name, text] of Object.entries(texts)) assert.ok(!text.includes(canary), name);
    for (const name of readdirSync(dataDir, { recursive: true, withFileTypes: true }))
      if (name.isFile()) assert.ok(!readFileSync(join(name.parentPath, name.name)).includes(canary), name.name);
  });

  it('survive a kill in the middle of the next stream, which is not stored', async () => {
    const { key: secret } = await newKey(story.service.client, projectId, 'project');
    const first = await create({});
    story.primary.answers(stream([role, ...words('Once', ' upon')], { after: 'stall' }));
    const aborted = new AbortController();
    const answer = await fetch(`${story.service.url}/v1/responses`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': secret },
      body: JSON.stringify({ model: 'alone', input: 'more', stream: true, previous_response_id: first.id }),
      signal: aborted.signal,
    });
    const reader = (answer.body ?? assert.fail()).getReader();
    let seen = '';
    while (!seen.includes('response.output_text.delta'))
      seen += Buffer.from((await reader.read()).value ?? []).toString();
    const broken = /"id":"(resp_[0-9a-f]+)"/.exec(seen)?.[1] ?? assert.fail(seen);
    await story.restart();
    aborted.abort();
    const again = story.service.client.as(secret);
    assert.deepEqual(expectStatus(await read(first.id, again), 200), first);
    assert.equal((await read(broken, again)).status, 404);
    story.primary.answers(json(completion('after')));
    await create({ previous_response_id: first.id }, again);
  });
});
