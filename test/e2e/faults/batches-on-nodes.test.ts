import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError, FilesClient } from '#test/e2e/support/files-client.ts';
import { completion, FakeProvider, json } from '#test/gateway/support/fake-provider.ts';
import { long } from '#test/support/run/long.ts';
import { describeOnSharedEngines } from '#test/support/service/engines.ts';
import { Nodes } from '#test/support/service/nodes.ts';
import {
  poll,
  type ServiceProcess,
  type TemporaryFolder,
  temporaryFolder,
} from '#test/support/service/service-process.ts';

type Check = { readonly name: string; readonly ready: boolean; readonly detail: string };

const lines = 240;
const answerMs = 40;

describeOnSharedEngines(
  `batches on several nodes ${long}`,
  (engines) => {
    const nodes = new Nodes(engines);
    let folder: TemporaryFolder;
    let provider: FakeProvider;
    /** By custom id, the nodes that sent the line, in order. A node is identified by its key for the provider. */
    const askedBy = new Map<string, string[]>();

    before(async () => {
      folder = temporaryFolder();
      provider = await FakeProvider.start();
      provider.answers(async (res, seen) => {
        const { messages } = JSON.parse(seen.body.toString()) as { messages: [{ content: string }] };
        const [{ content }] = messages;
        askedBy.set(content, [...(askedBy.get(content) ?? []), String(seen.headers.authorization)]);
        await sleep(answerMs);
        json(completion(content))(res, seen);
      });
      const configuration = {
        providers: {
          primary: { kind: 'openai-compatible', baseUrl: provider.baseUrl, apiKeyEnv: 'PROVIDER_KEY' },
        },
        models: { large: { targets: [{ provider: 'primary', model: 'gpt-x' }] } },
      };
      writeFileSync(join(folder.path, 'gateway.json'), JSON.stringify(configuration));
    });
    after(async () => {
      await nodes.end();
      await provider.stop();
      folder.remove();
    });

    const clientOf = ({ url }: ServiceProcess) => new FilesClient(url);
    const runnerOf = (name: string) => ({
      GATEWAY_CONFIG: join(folder.path, 'gateway.json'),
      PROVIDER_KEY: name,
      BATCH_CALLS_AT_ONCE: '4',
    });
    const lineOf = (id: string) =>
      JSON.stringify({
        custom_id: id,
        method: 'POST',
        url: '/v1/chat/completions',
        body: { model: 'large', messages: [{ role: 'user', content: id }] },
      });
    const upload = async (client: FilesClient, ids: ReadonlyArray<string>) =>
      (await client.upload(ids.map(lineOf).join('\n'), 'input.jsonl', { purpose: 'batch' })).id;
    const create = (client: FilesClient, input_file_id: string) =>
      client.createBatch({ input_file_id, endpoint: '/v1/chat/completions', completion_window: '24h' });
    const batchesCheck = async ({ client }: ServiceProcess) => {
      const { body } = await client.get<{ checks: ReadonlyArray<Check> }>('/readyz');
      return body.checks.find(({ name }) => name === 'batches');
    };

    it('refuses a batch with 503 while no node runs batches, reports that in /readyz, and accepts the batch once a node runs batches', async () => {
      // This node runs the projections, but serves no gateway and has no gateway configuration.
      const idle = nodes.begin('projections');
      const api = await nodes.start('control-plane,gateway');
      await idle.listening();
      const client = clientOf(api);
      const input = await upload(client, ['first']);
      const refused = await create(client, input).then(
        () => assert.fail('it was taken'),
        (error: unknown) => (error instanceof ApiError ? error : assert.fail(String(error))),
      );
      assert.deepEqual([refused.status, refused.code], [503, 'batches_not_running']);
      const check = await batchesCheck(api);
      assert.deepEqual([check?.ready, /no node runs batches/.test(check?.detail ?? '')], [true, true]);
      await nodes.start('projections', runnerOf('runner'));
      const taken = await poll(() => create(client, input).catch(() => null), 60_000);
      assert.ok(taken);
      assert.match((await batchesCheck(api))?.detail ?? '', /a node runs batches/);
      const done = await poll(async () => {
        const { status } = await client.batch(taken.id);
        return status === 'completed' ? status : null;
      }, 60_000);
      assert.equal(done, 'completed');
      await nodes.end();
      askedBy.clear();
    });

    it('continues a batch on another node after kill -9, and repeats no line with a recorded outcome', async () => {
      const [api, one, other] = await Promise.all([
        nodes.start('control-plane,gateway', runnerOf('api')),
        nodes.start('projections', runnerOf('one')),
        nodes.start('projections', runnerOf('other')),
      ]);
      const runners = new Map([
        ['Bearer one', one],
        ['Bearer other', other],
      ]);
      const client = clientOf(api);
      const ids = Array.from({ length: lines }, (_, index) => `line-${index}`);
      const input = await upload(client, ids);
      const created = await poll(() => create(client, input).catch(() => null), 60_000);
      assert.ok(created);
      const { id } = created;
      const recorded = await poll(async () => {
        const { request_counts: counts } = await client.batch(id);
        return (counts?.completed ?? 0) >= lines / 4 ? (counts?.completed ?? 0) : null;
      }, 120_000);
      assert.ok(recorded !== null && recorded < lines, String(recorded));
      const [first = ''] = [...askedBy.values()].flat();
      await runners.get(first)?.kill();
      const askedBefore = askedBy.size;

      const done = await poll(async () => {
        const batch = await client.batch(id);
        return batch.status === 'completed' ? batch : null;
      }, 120_000);
      assert.ok(done, JSON.stringify(await client.batch(id)));
      assert.deepEqual(done.request_counts, { total: lines, completed: lines, failed: 0 });
      const output = await (await client.content(done.output_file_id ?? '')).text();
      const written = output.trimEnd().split('\n');
      const customIds = written.map((line) => (JSON.parse(line) as { custom_id: string }).custom_id);
      assert.deepEqual(customIds.toSorted(), ids.toSorted(), 'each line is in the output exactly once');
      const asked = [...askedBy.values()];
      assert.ok(
        asked.every((by) => by.length <= 2 && new Set(by).size === by.length),
        JSON.stringify(asked),
      );
      assert.ok(
        asked.flat().some((by) => by !== first && runners.has(by)),
        'the other node continued it',
      );
      const again = asked.filter((by) => by.length === 2).length;
      // Only calls that were sent but not recorded when the node was killed.
      assert.ok(again <= askedBefore - recorded, `${again} again, of ${askedBefore} asked and ${recorded} recorded`);
    });
  },
  'empty',
);
