import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { FilesClient } from '#test/e2e/support/files-client.ts';
import { completion, FakeProvider, json } from '#test/gateway/support/fake-provider.ts';
import { long } from '#test/support/run/long.ts';
import {
  poll,
  type ServiceProcess,
  startService,
  type TemporaryFolder,
  temporaryFolder,
} from '#test/support/service/service-process.ts';

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** A service that is killed while it runs a batch, and a provider that counts its calls. */
class CrashingBatch {
  readonly asked = new Map<string, number>();
  readonly #provider: FakeProvider;
  readonly #folder: TemporaryFolder;
  #service: ServiceProcess | null = null;

  private constructor(provider: FakeProvider, folder: TemporaryFolder) {
    this.#provider = provider;
    this.#folder = folder;
    provider.answers(async (res, seen) => {
      const { messages } = JSON.parse(seen.body.toString()) as { messages: [{ content: string }] };
      const [{ content }] = messages;
      this.asked.set(content, (this.asked.get(content) ?? 0) + 1);
      await pause(30);
      json(completion(content))(res, seen);
    });
  }

  static async begin(): Promise<CrashingBatch> {
    const provider = await FakeProvider.start();
    const folder = temporaryFolder();
    const configuration = {
      providers: { primary: { kind: 'openai-compatible', baseUrl: provider.baseUrl } },
      models: { large: { targets: [{ provider: 'primary', model: 'gpt-x' }] } },
    };
    writeFileSync(join(folder.path, 'gateway.json'), JSON.stringify(configuration));
    return new CrashingBatch(provider, folder);
  }

  async start(): Promise<FilesClient> {
    const environment = { GATEWAY_CONFIG: join(this.#folder.path, 'gateway.json') };
    this.#service = await startService({ dataDir: this.#folder.path, environment });
    return new FilesClient(this.#service.url);
  }

  async kill(): Promise<void> {
    await this.#service?.kill();
  }

  async end(): Promise<void> {
    await this.kill();
    await this.#provider.stop();
    this.#folder.remove();
  }
}

const line = (id: string) =>
  JSON.stringify({
    custom_id: id,
    method: 'POST',
    url: '/v1/chat/completions',
    body: { model: 'large', messages: [{ role: 'user', content: id }] },
  });

/** Runs a batch through kills. @returns the custom ids in its output, in order */
async function runThroughKills(story: CrashingBatch, ids: ReadonlyArray<string>, kills: number): Promise<string[]> {
  let client = await story.start();
  const input = await client.upload(ids.map(line).join('\n'), 'input.jsonl', { purpose: 'batch' });
  const { id } = await client.createBatch({
    ...{ input_file_id: input.id, endpoint: '/v1/chat/completions', completion_window: '24h' },
  });
  let recorded = 0;
  for (let kill = 1; kill <= kills; kill += 1) {
    const wanted = Math.floor((ids.length * kill) / (kills + 1));
    const reached = await poll(async () => {
      const { request_counts: counts } = await client.batch(id);
      return (counts?.completed ?? 0) >= wanted ? (counts?.completed ?? 0) : null;
    }, 120_000);
    assert.ok(reached !== null, `${wanted} lines`);
    assert.ok(reached >= recorded, 'what was recorded stays so');
    recorded = reached;
    await story.kill();
    client = await story.start();
  }
  const done = await poll(async () => {
    const batch = await client.batch(id);
    return batch.status === 'completed' ? batch : null;
  }, 300_000);
  assert.ok(done, JSON.stringify(await client.batch(id)));
  assert.deepEqual(done.request_counts, { total: ids.length, completed: ids.length, failed: 0 });
  const text = await (await client.content(done.output_file_id ?? '')).text();
  return text
    .trimEnd()
    .split('\n')
    .map((each) => (JSON.parse(each) as { custom_id: string }).custom_id);
}

describe('a batch whose service is killed', function () {
  this.timeout(900_000);
  let story: CrashingBatch;
  beforeEach(async () => {
    story = await CrashingBatch.begin();
  });
  afterEach(() => story.end());

  async function expectEachLineOnce(lines: number, kills: number): Promise<void> {
    const ids = Array.from({ length: lines }, (_, index) => `line-${index}`);
    const output = await runThroughKills(story, ids, kills);
    assert.deepEqual(output.toSorted(), ids.toSorted(), 'each line is in the output exactly once');
    const counts = [...story.asked.values()];
    assert.equal(counts.length, lines);
    assert.ok(Math.max(...counts) <= 1 + kills, `a line was asked ${Math.max(...counts)} times`);
    // Only unrecorded calls are repeated: those in flight, and those that finished just before the kill.
    const again = counts.reduce((sum, count) => sum + count - 1, 0);
    assert.ok(again <= kills * 1_500, `${again} lines were asked again`);
    assert.ok(again < lines, `${again} of ${lines} lines were asked again`);
  }

  it(`writes each line to its output once, and repeats a call at most once for each kill ${long}`, () =>
    expectEachLineOnce(400, 1));

  it(`writes each line to its output once after two kills ${long}`, () => expectEachLineOnce(1_500, 2));

  it(`writes each of many lines to its output once after two kills ${long}`, () => expectEachLineOnce(50_000, 2));
});
