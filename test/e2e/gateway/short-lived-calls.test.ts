import assert from 'node:assert/strict';
import { expectStatus } from '#test/e2e/support/expect.ts';
import type { Client } from '#test/support/service/client.ts';
import {
  type ServiceProcess,
  startService,
  type TemporaryFolder,
  temporaryFolder,
} from '#test/support/service/service-process.ts';

const chats = 2_000;
const atOnce = 32;
/** A record of usage may outlive a collection. The rest of a call is about 50 KB. */
const maxKeptBytes = 6 * 1_024;
/** A full collection in between hides what was kept, so a try with one does not count. */
const tries = 5;

describe('the objects of a chat', function () {
  this.timeout(120_000);
  let folder: TemporaryFolder;
  let service: ServiceProcess;

  before(async () => {
    folder = temporaryFolder();
    service = await startService({ dataDir: folder.path });
    await sendChats(service.client, chats);
  });
  after(async () => {
    await service?.kill();
    folder?.remove();
  });

  it('are gone with a collection of the young generation, so that the old one hardly grows', async () => {
    const { client } = service;
    for (let left = tries; left > 0; left -= 1) {
      const before = await heapOf(client);
      await sendChats(client, chats);
      const after = await heapOf(client);
      if (after.fullCollections > before.fullCollections) continue;
      const kept = (after.oldBytes - before.oldBytes) / chats;
      assert.ok(kept < maxKeptBytes, `${Math.round(kept)} bytes of each chat are in the old generation`);
      return;
    }
    assert.fail(`in each of ${tries} tries there was a full collection`);
  });
});

async function sendChats(client: Client, count: number): Promise<void> {
  const body = { model: 'sandbox', messages: [{ role: 'user', content: 'When are you open?' }] };
  const send = async () => {
    for (let sent = 0; sent < count / atOnce; sent += 1)
      expectStatus(await client.post('/v1/chat/completions', body), 200);
  };
  await Promise.all(Array.from({ length: atOnce }, send));
}

interface Heap {
  readonly oldBytes: number;
  readonly fullCollections: number;
}

/** Reads the heap of the main thread from the metrics. */
async function heapOf(client: Client): Promise<Heap> {
  const { text } = await client.as(null).get('/metrics');
  const metric = (name: string) => {
    const line = text.split('\n').find((each) => each.startsWith(name));
    return Number(line?.slice(line.lastIndexOf(' ')) ?? 0);
  };
  const oldBytes = metric('nodejs_heap_space_size_used_bytes{space="old"}');
  assert.ok(oldBytes > 0, 'the metrics have the size of the old generation');
  return { oldBytes, fullCollections: metric('nodejs_gc_duration_seconds_count{kind="major"}') };
}
