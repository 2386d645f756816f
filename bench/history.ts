import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import * as E from 'fp-ts/lib/Either.js';
import { VersionComparer } from '#application/diffs/version-comparer.ts';
import type { CollectionReader } from '#application/operations/paging.ts';
import { StreamWriter } from '#application/streams/stream-writer.ts';
import { flow } from '#domain/flow/flow.ts';
import { newEvent } from '#domain/shared/event.ts';
import { openSqliteEventStore } from '#event-store/sqlite/sqlite-event-store.ts';
import { Admission } from '#exchange/admission.ts';
import { diffFlowVersions } from '#queries/flow-version/diff-flow-versions.ts';
import { StoredDocument } from '#read-store/stored-document.ts';
import type { Json } from '#shared/json/json.ts';
import { peakMemory } from './gateway-processes/resident-memory.ts';
import { adminKey, call, type Server, startService } from './http-processes/processes.ts';
import { format, interleaved, median, print, printResults, type Result } from './measure.ts';

const eventsOfLongStream = 10_000;
const eventsInAudit = 100_000;
const inAnAppend = 100;
const readsInRound = 200;
const rounds = 5;
const schemaBytes = 768 * 1024;
const origin = { actor: { keyId: 'bench', keyType: 'admin' }, requestId: 'b', correlationId: 'b', causationId: 'b' };
const mebibyte = 1024 * 1024;

/**
 * Measures a read of a long stream as of a moment, an export of the audit, and a diff of large schemas.
 * `npm run bench -- history 20000` creates an audit of that many entries.
 */
export default async function history(args: ReadonlyArray<string>): Promise<void> {
  const events = Number(args[0] ?? eventsInAudit);
  printResults(await diffs());
  const folder = await mkdtemp(join(tmpdir(), 'switchyard-history-'));
  try {
    const ids = await prepare(folder, events);
    const service = await startService(folder);
    try {
      const results = await asOf(service, ids.long);
      printResults([...results, await auditExport(service)]);
    } finally {
      await service.stop();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Creates a service with one flow of many versions and renamings, and many other flows. */
async function prepare(folder: string, events: number): Promise<{ readonly long: string }> {
  const empty = await startService(folder);
  const { projects } = (await (await call(empty, 'GET', '/v1/projects')).json()) as Projects;
  await empty.stop();
  const [project] = projects;
  if (project === undefined) throw new Error('The first start made no project');
  const tenant = { organizationId: project.organizationId, projectId: project.id, partnerId: project.organizationId };
  const store = await openSqliteEventStore({ file: join(folder, 'events.db') });
  const writer = new StreamWriter({ store, soleWriter: true });
  const long = 'cflowlong0000001';
  print(`Writing ${format(events)} events.`);
  await writeFlow(writer, tenant, long, eventsOfLongStream);
  for (let written = eventsOfLongStream, number = 0; written < events; written += inAnAppend, number += 1) {
    await writeFlow(writer, tenant, `cflow${String(number).padStart(11, '0')}`, inAnAppend);
  }
  await store.close();
  return { long };
}

interface Projects {
  readonly projects: ReadonlyArray<{ readonly id: string; readonly organizationId: string }>;
}

async function writeFlow(writer: StreamWriter, tenant: Tenant, id: string, events: number): Promise<void> {
  for (let made = 0; made < events; made += inAnAppend) {
    const written = await writer.write({
      entity: flow,
      id,
      origin,
      decide: () =>
        E.right({ events: Array.from({ length: inAnAppend }, (_, at) => eventOf(tenant, id, made + at)), tenant }),
    });
    if (E.isLeft(written)) throw new Error(written.left.detail);
  }
}

type Tenant = { readonly organizationId: string; readonly projectId: string; readonly partnerId: string };

/** Every second event creates a version, and the others rename the flow. */
function eventOf({ projectId }: Tenant, id: string, number: number) {
  if (number === 0) {
    const created = { id, projectId, name: 'Hours', type: 'simple', description: null, tier: 'standard' } as const;
    return newEvent('FlowCreated', { ...created, agentProfileId: null });
  }
  if (number % 2 === 0) return newEvent('FlowRenamed', { id, name: `Hours ${number}` });
  const version = (number + 1) / 2;
  const versionId = id + version.toString(36).padStart(8, '0');
  const flowSchema = { nodes: [{ id: 'start', say: `hello ${version}` }] };
  return newEvent('FlowVersionCreated', { id: versionId, flowId: id, version, tag: `v${version}`, flowSchema });
}

async function asOf(service: Server, id: string): Promise<ReadonlyArray<Result>> {
  const read = (asOf: string) => medianMs(() => call(service, 'GET', `/v1/flows/${id}${asOf}`));
  const cold = performance.now();
  await (await call(service, 'GET', `/v1/flows/${id}?asOf=${eventsOfLongStream - 1}`)).text();
  print(`The first read as of a revision: ${format(performance.now() - cold)} ms`);
  const moment = () => Math.floor(Math.random() * eventsOfLongStream);
  const times = await timesOf(service, id);
  const figures = await interleaved(
    [
      { name: 'plain', round: () => read('') },
      { name: 'revision', round: () => medianMs(() => call(service, 'GET', `/v1/flows/${id}?asOf=${moment()}`)) },
      {
        name: 'time',
        round: () => medianMs(() => call(service, 'GET', `/v1/flows/${id}?asOf=${times[moment() % times.length]}`)),
      },
    ],
    rounds,
  );
  const plain = figures.get('plain') ?? Number.NaN;
  const ratio = (name: string): Result => ({
    what: `p50 of a read as of a ${name} on a stream of 10,000 events, of a plain read`,
    figure: (figures.get(name) ?? Number.NaN) / plain,
    unit: ' ×',
    required: 5,
    aim: 3,
  });
  return [ratio('revision'), ratio('time')];
}

/** Returns times of events spread over the stream. */
async function timesOf(service: Server, id: string): Promise<ReadonlyArray<string>> {
  const times: string[] = [];
  for (let revision = 1; revision < eventsOfLongStream; revision += eventsOfLongStream / 100) {
    const flow = (await (await call(service, 'GET', `/v1/flows/${id}?asOf=${revision + 1}`)).json()) as {
      updatedAt: string;
    };
    times.push(flow.updatedAt);
  }
  return times;
}

async function medianMs(read: () => Promise<Response>): Promise<number> {
  const taken: number[] = [];
  for (let each = 0; each < readsInRound; each += 1) {
    const began = performance.now();
    await (await read()).arrayBuffer();
    taken.push(performance.now() - began);
  }
  return median(taken);
}

/** Reads a whole export. @returns the number of its entries */
async function exportAudit({ url }: Server): Promise<number> {
  const headers = { authorization: `Bearer ${adminKey}`, accept: 'application/x-ndjson' };
  const answer = await fetch(`${url}/v1/audit`, { headers });
  let lines = 0;
  for await (const chunk of answer.body ?? []) for (const byte of chunk as Uint8Array) if (byte === 10) lines += 1;
  return lines;
}

async function auditExport(service: Server): Promise<Result> {
  await exportAudit(service);
  let entries = 0;
  const before = await peakMemory(service.pid, () => sleep(2_000));
  const began = performance.now();
  const peak = await peakMemory(service.pid, async () => {
    entries = await exportAudit(service);
  });
  print(`An export of ${format(entries)} entries: ${format((performance.now() - began) / 1_000)} s`);
  return {
    what: `memory beyond that before it, exporting ${format(entries)} entries of the audit`,
    figure: (peak - before) / mebibyte,
    unit: ' MiB',
    required: 64,
    aim: 16,
  };
}

/** Creates large schemas: a graph in which every tenth node changed, and many changes deep below long names. */
async function diffs(): Promise<ReadonlyArray<Result>> {
  const graph = (change: string) => {
    const node = (at: number) => ({
      id: `n${at}`,
      say: `${at % 10 === 0 ? change : 'same'} ${'x'.repeat(160)}`,
      next: [at + 1],
    });
    return { nodes: Array.from({ length: schemaBytes / 256 }, (_, at) => node(at)) };
  };
  const values = (change: number) => ({ list: Array.from({ length: 49_000 }, (_, at) => at + change) });
  const deep = (change: string): Json => {
    const leaves = Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`k${at}`, change]));
    return Array.from({ length: 200 }).reduce<Json>((inner) => ({ ['n'.repeat(1_500)]: inner }), leaves);
  };
  return [
    await blocked('a graph', graph('before'), graph('after')),
    await blocked('49,000 values', values(0), values(1)),
    await blocked('changes below long names', deep('a'), deep('b')),
  ];
}

async function blocked(what: string, before: Json, after: Json): Promise<Result> {
  const tenant = { organizationId: 'c', projectId: 'c', partnerId: null };
  const documentOf = (id: string, flowSchema: Json) =>
    new StoredDocument(id, 1, JSON.stringify({ ...tenant, flowId: 'c', record: { id, flowSchema } }), 1);
  const other = documentOf('b', after);
  const versions = { get: async () => other } as unknown as CollectionReader;
  const comparer = new VersionComparer({ admission: new Admission() });
  const question = {
    input: { versionId: 'a', otherVersionId: 'b' },
    request: { caller: { keyType: 'admin' } },
    subject: documentOf('a', before),
  };
  const delays: number[] = [];
  for (let round = 0; round < 5; round += 1) {
    const delay = monitorEventLoopDelay({ resolution: 1 });
    delay.enable();
    await sleep(20);
    await diffFlowVersions.answer(question as never, { read: { versions }, comparer });
    await sleep(20);
    delay.disable();
    delays.push(delay.max / 1e9);
  }
  await comparer.close();
  const bytes = Math.round(JSON.stringify(before).length / 1024);
  return {
    what: `the longest block of the event loop by a diff of ${what} (${bytes} KiB each)`,
    figure: Math.max(...delays),
    unit: ' s',
    required: 0.3,
    aim: 0.1,
  };
}
