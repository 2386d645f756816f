import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { request } from 'undici';
import { noStream } from '#event-store/event-store.ts';
import { openSqliteEventStore } from '#event-store/sqlite/sqlite-event-store.ts';
import { mustAppend } from '#test/contract/event-store.ts';
import { expectStatus } from '#test/e2e/support/expect.ts';
import { newProject } from '#test/e2e/support/tenants.ts';
import { long } from '#test/support/run/long.ts';
import { adminKey } from '#test/support/service/admin-key.ts';
import {
  poll,
  type ServiceProcess,
  startService,
  type TemporaryFolder,
  temporaryFolder,
} from '#test/support/service/service-process.ts';

const flows = 100;
const entriesOfFlow = 1_000;
/** The number of events of a new flow about its first version. */
const versionEvents = 2;
/** The length of a description. It makes the export larger than the allowed growth of the service. */
const longText = 'n'.repeat(900);
/** The size limit of an append: it holds all events of one flow. */
const maxAppendBytes = 4 * 1024 * 1024;
const lineFeed = '\n'.charCodeAt(0);

/** A small heap makes V8 collect garbage early instead of growing to the machine's limit. */
const smallHeapMb = 160;

/** The number of flows whose entries are exported before memory is measured. */
const flowsBefore = 20;

/** The additional memory that the service may need for the whole audit compared with a fifth of it. */
const maxGrowthBytes = 60 * 1024 * 1024;

/** The limit of a wait for a read model. It only keeps a test from hanging. */
const maxWaitMs = 60_000;

interface Exported {
  readonly lines: number;
  readonly bytes: number;
  /** The maximum memory of the service in bytes. */
  readonly peak: number;
}

describe('export of a long audit', function () {
  this.timeout(600_000);
  let folder: TemporaryFolder;
  let service: ServiceProcess;

  before(() => {
    folder = temporaryFolder();
  });

  after(async () => {
    await service?.kill();
    folder.remove();
  });

  it(`streams 100,000 entries in memory that does not grow with them ${long}`, async () => {
    service = await startService({ dataDir: folder.path });
    const projectId = await newProject(service.client);
    const made = await service.client.post<{ id: string }>(`/v1/projects/${projectId}/flows`, {
      name: 'First',
      flowSchema: { nodes: {} },
    });
    const { id } = expectStatus(made, 201);
    expectStatus(await service.client.patch(`/v1/flows/${id}`, { description: 'First' }), 200);
    const audited = async () => (await exported(service, `?resource=${id}&type=FlowDescribed`)).lines === 1;
    assert.ok(await poll(audited, maxWaitMs), 'the audit does not follow');
    const { lines: others } = await exported(service);
    await service.stop();
    await appendFlows(folder.path, id);
    // The first service has filled the read models. The test measures another process, which has held
    // no large data before.
    for (const ending of ['', '-wal', '-shm']) rmSync(join(folder.path, `read.db${ending}`), { force: true });
    service = await startService({ dataDir: folder.path });
    await service.stop();
    service = await startService({ dataDir: folder.path, maxHeapMb: smallHeapMb });

    // The heap of V8 and the cached states of streams grow once and then stay; an export of a part reaches that level.
    let warm = 0;
    for (let flow = 0; flow < flowsBefore; flow += 1) {
      const part = await exported(service, `?resource=${idOf(flow)}`);
      assert.equal(part.lines, entriesOfFlow);
      warm = Math.max(warm, part.peak);
    }
    const { lines, bytes, peak } = await exported(service);
    const growth = peak - warm;
    assert.equal(lines, others + flows * entriesOfFlow);
    assert.ok(bytes > maxGrowthBytes, `the export has only ${bytes} bytes`);
    assert.ok(growth <= maxGrowthBytes, `the service needs ${growth} bytes more for ${bytes} bytes`);
  });
});

/** Reads an export as it arrives without keeping it, and measures the memory of the service meanwhile. */
async function exported(service: ServiceProcess, query = ''): Promise<Exported> {
  const headers = { accept: 'application/x-ndjson', authorization: `Bearer ${adminKey}` };
  const { statusCode, body } = await request(`${service.url}/v1/audit${query}`, { headers });
  assert.equal(statusCode, 200);
  const found = { lines: 0, bytes: 0, peak: 0 };
  for await (const chunk of body as AsyncIterable<Buffer>) {
    found.bytes += chunk.length;
    for (let at = chunk.indexOf(lineFeed); at !== -1; at = chunk.indexOf(lineFeed, at + 1)) found.lines += 1;
    found.peak = Math.max(found.peak, ownMemory(service));
  }
  return found;
}

/** The memory of a process in bytes, without the pages of files, which the system takes back when it needs them. */
function ownMemory({ pid }: ServiceProcess): number {
  const [, kibibytes] = /^RssAnon:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  assert.ok(kibibytes !== undefined, 'Linux says how much memory a process has');
  return Number(kibibytes) * 1_024;
}

const idOf = (flow: number) => `cadded${flow}`;

/** Appends the events of new flows: the first events of a flow, and descriptions up to a thousand events in all. */
async function appendFlows(dataDir: string, flowId: string): Promise<void> {
  const store = await openSqliteEventStore({ file: join(dataDir, 'events.db'), maxAppendBytes });
  try {
    const written = store.readRaw(`flow-${flowId}`, 0, 10);
    const [began, described] = [written.slice(0, -1), written.at(-1)];
    assert.deepEqual([began.length, described?.type], [1 + versionEvents, 'FlowDescribed']);
    assert.ok(described !== undefined);
    for (let flow = 0; flow < flows; flow += 1) {
      const id = idOf(flow);
      const beginning = began.map(({ type, data, metadata }) => ({
        type,
        data: data.replaceAll(flowId, id),
        metadata,
      }));
      const descriptions = Array.from({ length: entriesOfFlow - began.length }, (_, index) => ({
        type: described.type,
        data: JSON.stringify({ ...JSON.parse(described.data), id, description: `${index} ${longText}` }),
        metadata: described.metadata,
      }));
      const events = [...beginning, ...descriptions].map((event) => ({ id: randomUUID(), ...event }));
      await mustAppend(store, `flow-${id}`, noStream, events);
    }
  } finally {
    await store.close();
  }
}
