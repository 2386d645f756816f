import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expectStatus } from '#test/e2e/support/expect.ts';
import { GatewayScenario } from '#test/e2e/support/gateway-scenario.ts';
import { newKey, newProject } from '#test/e2e/support/tenants.ts';
import { completion, json, saying, stream } from '#test/gateway/support/fake-provider.ts';
import { poll, type TemporaryFolder, temporaryFolder } from '#test/support/service/service-process.ts';

const snapshotMs = 60_000;
const prompt = 'where-is-the-nearest-lighthouse';
/** A kept connection keeps the head of its last request. */
const closing = { connection: 'close' };

describe('the heap of an idle node', function () {
  this.timeout(120_000);
  let folder: TemporaryFolder;
  let scenario: GatewayScenario;

  before(async () => {
    folder = temporaryFolder();
    const flags = `--heapsnapshot-signal=SIGUSR2 --diagnostic-dir=${folder.path}`;
    scenario = await GatewayScenario.begin({ NODE_OPTIONS: flags });
  });
  after(async () => {
    await scenario?.end();
    folder?.remove();
  });

  it('has no key and no text of the requests whose connections are closed', async () => {
    const { service, primary } = scenario;
    const { key } = await newKey(service.client, await newProject(service.client), 'project');
    const client = service.client.as(key);
    expectStatus(await client.get('/v1/me', closing), 200);
    for (const [answer, streamed] of [
      [json(completion('It is in Kiel.')), false],
      [stream(saying('It is', ' in Kiel.')), true],
    ] as const) {
      primary.answers(answer);
      const body = { model: 'alone', stream: streamed, messages: [{ role: 'user', content: prompt }] };
      expectStatus(await client.post('/v1/chat/completions', body, closing), 200);
    }
    const heap = await heapOf(service.pid);
    assert.ok(heap.includes('gen_ai_client_operation_duration_seconds'), 'the snapshot has the texts of the heap');
    assert.ok(!heap.includes(key), 'the key is in the heap');
    assert.ok(!heap.includes(prompt), 'the prompt is in the heap');
  });

  /** Lets the process write its heap, after it has collected all garbage. */
  async function heapOf(pid: number): Promise<string> {
    process.kill(pid, 'SIGUSR2');
    const heap = await poll(() => {
      const [name] = readdirSync(folder.path).filter((each) => each.endsWith('.heapsnapshot'));
      const text = name === undefined ? '' : readFileSync(join(folder.path, name), 'utf8');
      return /\]\}\s*$/.test(text.slice(-10)) && text;
    }, snapshotMs);
    assert.ok(heap, 'the process has written its heap');
    return heap;
  }
});
