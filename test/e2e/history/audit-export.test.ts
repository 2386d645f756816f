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
  type ServiceProcess,
  startService,
  type TemporaryFolder,
  temporaryFolder,
  until,
} from '#test/support/service/service-process.ts';

const flows = 100;
const entriesOfFlow = 1_000;
/** Of a new flow, which name its first version and not the flow. */
const versionEvents = 2;
/** With descriptions of this length the export is larger than what the service may grow by. */
const longText = 'n'.repeat(900);
/** Of the events of one flow together. */
const maxAppendBytes = 4 * 1024 * 1024;
const lineFeed = '\n'.charCodeAt(0);

/** With little room V8 soon collects what is not needed, instead of growing to what the machine has. */
const smallHeap = '--max-old-space-size=160 --max-semi-space-size=8';

/** Whose entries are exported before memory is measured. */
const flowsBefore = 20;

/** What the service may need more for the whole audit than for a fifth of it. */
const maxGrowthBytes = 60 * 1024 * 1024;

/** The limit of a wait for a read model. It only keeps a test from hanging. */
const maxWaitMs = 60_000;

interface Exported {
  readonly lines: number;
  readonly bytes: number;
  /** The most memory that the service had, in bytes. */
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
    assert.ok(await until(audited, maxWaitMs), 'the audit does not follow');
    const { lines: others } = await exported(service);
    await service.stop();
    await lengthenAudit(folder.path, id);
    // A service is ready when its read models are filled for the first time. Another process is measured, which held
    // nothing large before.
    for (const ending of ['', '-wal', '-shm']) rmSync(join(folder.path, `read.db${ending}`), { force: true });
    service = await startService({ dataDir: folder.path });
    await service.stop();
    service = await startService({ dataDir: folder.path, environment: { NODE_OPTIONS: smallHeap } });

    // What grows once and then stays, as V8's heap and the kept states of streams do, is there after a part.
    let warm = 0;
    for (let flow = 0; flow < flowsBefore; flow += 1) {
      const part = await exported(service, `?resource=${idOf(flow)}`);
      assert.equal(part.lines, entriesOfFlow - versionEvents);
      warm = Math.max(warm, part.peak);
    }
    const { lines, bytes, peak } = await exported(service);
    const growth = peak - warm;
    assert.equal(lines, others + flows * entriesOfFlow);
    assert.ok(bytes > maxGrowthBytes, `the export has only ${bytes} bytes`);
    assert.ok(growth <= maxGrowthBytes, `the service needs ${growth} bytes more for ${bytes} bytes`);
  });
});

/** Reads an export as it comes, keeps nothing of it, and sees how much memory the service has meanwhile. */
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

/** Appends the events of new flows: those that began a flow, and a thousand in all with its descriptions. */
async function lengthenAudit(dataDir: string, flowId: string): Promise<void> {
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
