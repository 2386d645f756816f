import assert from 'node:assert/strict';
import { expectStatus } from '#test/e2e/support/expect.ts';
import type { Client, Reply } from '#test/support/service/client.ts';
import {
  type ServiceProcess,
  startService,
  type TemporaryFolder,
  temporaryFolder,
} from '#test/support/service/service-process.ts';

interface Case {
  readonly what: string;
  readonly send: (client: Client) => Promise<Reply<unknown>>;
  /** What may outlive a collection of the young generation. */
  readonly maxKeptBytes: number;
}

const chat = { model: 'sandbox', messages: [{ role: 'user', content: 'When are you open?' }] };
const cases: ReadonlyArray<Case> = [
  // A record of usage may stay. The rest of a call is about 50 KB.
  { what: 'chat', send: (client) => client.post('/v1/chat/completions', chat), maxKeptBytes: 6 * 1_024 },
  { what: 'query', send: (client) => client.get('/v1/projects'), maxKeptBytes: 2 * 1_024 },
];
const requests = 4_000;
const atOnce = 32;
/** A full collection in between hides what was kept, so a try with one does not count. */
const tries = 5;

describe('the objects of a request', function () {
  this.timeout(120_000);
  let folder: TemporaryFolder;
  let service: ServiceProcess;

  before(async () => {
    folder = temporaryFolder();
    service = await startService({ dataDir: folder.path });
  });
  after(async () => {
    await service?.kill();
    folder?.remove();
  });

  for (const { what, send, maxKeptBytes } of cases) {
    it(`of a ${what} are gone with a collection of the young generation, so that the old one hardly grows`, async () => {
      const { client } = service;
      await sendAll(() => send(client));
      for (let left = tries; left > 0; left -= 1) {
        const before = await heapOf(client);
        await sendAll(() => send(client));
        const after = await heapOf(client);
        if (after.fullCollections > before.fullCollections) continue;
        const kept = (after.oldBytes - before.oldBytes) / requests;
        assert.ok(kept < maxKeptBytes, `${Math.round(kept)} bytes of each ${what} are in the old generation`);
        return;
      }
      assert.fail(`in each of ${tries} tries there was a full collection`);
    });
  }
});

async function sendAll(send: () => Promise<Reply<unknown>>): Promise<void> {
  const sendInTurn = async () => {
    for (let sent = 0; sent < requests / atOnce; sent += 1) expectStatus(await send(), 200);
  };
  await Promise.all(Array.from({ length: atOnce }, sendInTurn));
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
