import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import * as E from 'fp-ts/lib/Either.js';
import { RecordSnapshots, type SnapshotStore } from '#application/streams/stream-snapshots.ts';
import { StreamWriter } from '#application/streams/stream-writer.ts';
import { flow } from '#domain/flow/flow.ts';
import { childId } from '#domain/shared/entity.ts';
import { newEvent } from '#domain/shared/event.ts';
import type { EventStore } from '#event-store/event-store.ts';
import { openSqliteEventStore } from '#event-store/sqlite/sqlite-event-store.ts';
import { openSqliteRecordStore } from '#records/sqlite/sqlite-record-store.ts';
import { SqliteWriter } from '#sqlite/sqlite-writer.ts';
import { print, printResults, type Result } from './measure.ts';

const versions = 20_000;
const inAnAppend = 100;
const measured = 200;
const remembered = 15_000;
const origin = { actor: { keyId: 'bench', keyType: 'admin' }, requestId: 'b', correlationId: 'b', causationId: 'b' };
const tenant = { organizationId: 'corganization0001', projectId: 'cproject00000001', partnerId: null };
const longId = 'cflowlong0000001';
const shortId = 'cflowshort000001';
const keyedId = 'cflowkeyed000001';

/**
 * Measures commands on streams of 20,000 events and of 15,000 remembered keys, and the first reading of such a stream.
 */
export default async function longStreams(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'switchyard-streams-'));
  const store = await openSqliteEventStore({ file: join(folder, 'events.db') });
  const sqliteWriter = new SqliteWriter({ onFatal: (error) => print(String(error)) });
  const records = openSqliteRecordStore({ file: join(folder, 'records.db'), writer: sqliteWriter });
  const snapshots = new RecordSnapshots(records);
  try {
    const writer = new StreamWriter({ store, snapshots, soleWriter: true });
    await begin(writer, shortId);
    await begin(writer, longId);
    for (let made = 0; made < versions; made += inAnAppend) await addVersions(writer, longId, made, inAnAppend);
    await begin(writer, keyedId);
    for (let made = 0; made < remembered; made += 1) await addVersions(writer, keyedId, made, 1, `key ${made}`);
    const short = await perSecond((each) => addVersions(writer, shortId, each, 1));
    const long = await perSecond((each) => addVersions(writer, longId, versions + each, 1));
    const keyed = await perSecond((each) => addVersions(writer, keyedId, remembered + each, 1, `more ${each}`));
    await sleep(500);
    const results: Result[] = [
      {
        what: 'versions a second on a stream of 20,000, to those on a short one',
        figure: long / short,
        unit: ' ×',
        required: 0.8,
        aim: 1,
      },
      milliseconds('a command beside 15,000 remembered keys, more than without', 1_000 / keyed - 1_000 / short, 0.2),
      ...(await firstLoad(store, snapshots)),
    ];
    printResults(results);
  } finally {
    await records.close();
    await Promise.all([store.close(), sqliteWriter.close()]);
    await rm(folder, { recursive: true, force: true });
  }
}

/** Returns a result with a maximum of this many milliseconds, and half of it as the aim. */
const milliseconds = (what: string, figure: number, required: number): Result => ({
  what,
  figure,
  unit: ' ms',
  required,
  aim: required / 2,
});

async function firstLoad(store: EventStore, snapshots: SnapshotStore): Promise<ReadonlyArray<Result>> {
  const writer = new StreamWriter({ store, soleWriter: true, snapshots });
  const delay = monitorEventLoopDelay({ resolution: 1 });
  await sleep(50);
  delay.enable();
  const began = performance.now();
  await writer.load(flow, longId);
  const tookMs = performance.now() - began;
  await sleep(5);
  delay.disable();
  return [
    milliseconds('the first reading of 20,000 events, from their snapshot', tookMs, 300),
    milliseconds('the longest delay of the loop meanwhile', delay.max / 1e6, 50),
  ];
}

function begin(writer: StreamWriter, id: string) {
  const created = { id, projectId: 'cproject00000001', name: 'Long', type: 'simple' as const, description: null };
  const data = { ...created, tier: 'standard' as const, agentProfileId: null };
  return writer.write({
    entity: flow,
    id,
    origin,
    decide: () => E.right({ events: [newEvent('FlowCreated', data)], tenant }),
  });
}

async function addVersions(writer: StreamWriter, id: string, from: number, count: number, key?: string) {
  const events = Array.from({ length: count }, (_, index) => {
    const version = from + index + 1;
    const versionId = childId(id, version.toString(36).padStart(8, '0'));
    const flowSchema = { nodes: [{ say: `hello ${version}` }] };
    return newEvent('FlowVersionCreated', { id: versionId, flowId: id, version, tag: `v${version}`, flowSchema });
  });
  const idempotency = key === undefined ? {} : { idempotency: { key, body: 'body' } };
  const handled = await writer.write({
    entity: flow,
    id,
    origin,
    ...idempotency,
    decide: () => E.right({ events, tenant }),
  });
  if (E.isLeft(handled)) throw new Error(handled.left.detail);
}

async function perSecond(command: (each: number) => Promise<unknown>): Promise<number> {
  const began = performance.now();
  for (let each = 0; each < measured; each += 1) await command(each);
  return (measured * 1_000) / (performance.now() - began);
}
