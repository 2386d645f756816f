import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import * as E from 'fp-ts/lib/Either.js';
import { type UsageEntry, usageEvents } from '#domain/usage/events.ts';
import { openSqliteEventStore } from '#event-store/sqlite/sqlite-event-store.ts';
import { FakeProvider, role, stream, words } from '#test/gateway/support/fake-provider.ts';
import { long } from '#test/support/run/long.ts';
import { composeService, type ServiceInProcess } from '#test/support/service/service-in-process.ts';
import {
  adminKey,
  poll,
  startService,
  type TemporaryFolder,
  temporaryFolder,
} from '#test/support/service/service-process.ts';

describe('metering of the service', function () {
  this.timeout(180_000);
  let folder: TemporaryFolder;
  let service: Pick<ServiceInProcess, 'url'> & { readonly stop: () => Promise<unknown> };

  beforeEach(() => {
    folder = temporaryFolder();
  });
  afterEach(async () => {
    await service?.stop();
    folder.remove();
  });

  const prompt = 'a text that only the model may read';
  const chat = async (model: string, stream = false) => {
    const answer = await fetch(`${service.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, stream, messages: [{ role: 'user', content: prompt }] }),
    });
    await answer.text();
  };
  const metrics = async () => (await fetch(`${service.url}/metrics`)).text();

  /** Reads the recorded usage from the log of a stopped service. */
  const recorded = async (): Promise<{
    readonly streams: ReadonlyArray<string>;
    readonly usage: ReadonlyArray<UsageEntry>;
  }> => {
    const store = await openSqliteEventStore({ file: join(folder.path, 'events.db') });
    try {
      const raw = store.readRawLog(0, 100_000).filter(({ type }) => type === 'UsageRecorded');
      assert.ok(raw.every(({ data }) => !data.includes(prompt)));
      const usage = raw.flatMap(({ data }) => {
        const decoded = usageEvents.UsageRecorded.decode(JSON.parse(data));
        return E.isRight(decoded) ? decoded.right.usage : assert.fail('it cannot be read');
      });
      return { streams: raw.map(({ stream }) => stream), usage };
    } finally {
      await store.close();
    }
  };

  it('meters calls, and records the remaining ones when the service stops', async () => {
    service = await composeService({ dataDir: folder.path });
    await chat('sandbox');
    await chat('sandbox', true);
    await chat('unknown');
    const served =
      'gen_ai_client_operation_duration_seconds_count{gen_ai_operation_name="chat",gen_ai_provider_name="sandbox",gen_ai_request_model="switchyard-sandbox",error_type=""} 2\n';
    assert.ok(await poll(async () => (await metrics()).includes(served), 60_000), await metrics());
    await service.stop();
    const { streams, usage } = await recorded();
    assert.match(streams[0] ?? '', /^usage-\d{4}-\d\d-\d\d-\S+$/);
    const calls = usage.reduce((sum, entry) => sum + entry.calls, 0);
    assert.equal(calls, 2);
    for (const { organizationId, projectId, partnerId, failedTries } of usage) {
      assert.ok(organizationId !== null && projectId !== null);
      assert.deepEqual([partnerId === null || partnerId === organizationId, failedTries], [true, []]);
    }
    for (const { operation, model, target, outcome } of usage)
      assert.deepEqual(
        [operation, model, target, outcome],
        ['chat', 'sandbox', 'sandbox/switchyard-sandbox', 'served'],
      );
  });

  it(`records a call that has not ended when the service stops ${long}`, async () => {
    const provider = await FakeProvider.start();
    try {
      provider.answers(stream([role, ...words('Once')], { after: 'stall' }));
      const file = join(folder.path, 'gateway.json');
      const providers = { p: { kind: 'openai-compatible', baseUrl: provider.baseUrl } };
      writeFileSync(file, JSON.stringify({ providers, models: { m: { targets: [{ provider: 'p', model: 'x' }] } } }));
      const environment = { GATEWAY_CONFIG: file, STOP_TIMEOUT_MS: '6000' };
      service = await composeService({ dataDir: folder.path, environment });
      const endless = chat('m', true);
      await poll(async () => provider.seen.length === 1, 60_000);
      const cut = assert.rejects(endless);
      await service.stop();
      await cut;
      const { usage } = await recorded();
      assert.deepEqual(
        usage.map(({ calls, outcome }) => [calls, outcome]),
        [[1, 'client-gone']],
      );
    } finally {
      await provider.stop();
    }
  });

  it('records usage while it runs, so that a crash loses only the last seconds', async () => {
    const killed = await startService({ dataDir: folder.path });
    service = killed;
    await chat('sandbox');
    // The service has the log open as well.
    const database = new DatabaseSync(join(folder.path, 'events.db'), { readOnly: true });
    const stored = () => database.prepare("SELECT count(*) AS events FROM events WHERE type = 'UsageRecorded'").get();
    try {
      assert.ok(await poll(async () => stored()?.events === 1, 60_000));
    } finally {
      database.close();
    }
    await killed.kill();
    const { usage } = await recorded();
    assert.deepEqual(
      usage.map(({ calls }) => calls),
      [1],
    );
  });
});
