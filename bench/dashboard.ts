import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as E from 'fp-ts/lib/Either.js';
import { readersOf } from '#application/queries/query-handler.ts';
import { type Caller, type KeyType, scopesOfKeyType } from '#domain/shared/access.ts';
import type { RecordedEvent } from '#event-store/event-store.ts';
import { foldInMemory } from '#projection-engine/documents/fold-in-memory.ts';
import { usageByPeriod } from '#projections/usage/usage-by-period.ts';
import { getGatewayDashboard } from '#queries/dashboard/get-gateway-dashboard.ts';
import { getUsage } from '#queries/usage/get-usage.ts';
import type { ReadStore } from '#read-store/read-store.ts';
import { openSqliteReadStore } from '#read-store/sqlite/sqlite-read-store.ts';
import { openSqliteReadStoreWriter } from '#read-store/sqlite/sqlite-read-store-writer.ts';
import { recordLast } from '#read-store/stored-document.ts';
import { defaultCalls, keys, meteredWindows, models } from './logs/metered-calls.ts';
import { format, interleaved, print, printResults } from './measure.ts';

const rounds = 5;
const hourMs = 60 * 60_000;
const panelMs = 20;

/**
 * Measures the requests of the dashboard's panels on 10,000,000 metered calls, against a point read of the same store
 * in the same run. `npm run bench -- dashboard 1000000` meters that many calls.
 */
export default async function dashboard(args: ReadonlyArray<string>): Promise<void> {
  const calls = Number(args[0] ?? defaultCalls);
  const folder = await mkdtemp(join(tmpdir(), 'switchyard-dashboard-'));
  const file = join(folder, 'read.db');
  try {
    await fill(file, calls);
    const store = openSqliteReadStore(file);
    try {
      await measure(store);
    } finally {
      await store.close();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Folds windows of this many calls into the read models of usage. */
async function fill(file: string, calls: number): Promise<void> {
  const events = meteredWindows(calls).map(
    (data, index) => ({ position: index + 1, type: 'UsageRecorded', data }) as unknown as RecordedEvent,
  );
  print(`${format(calls)} calls in ${format(events.length)} windows of ${keys} keys and ${models} models.`);
  const writer = openSqliteReadStoreWriter(file, print);
  for (const projection of Object.values(usageByPeriod)) {
    const { name, version, indexes } = projection;
    const generation = await writer.begin({ name, version, indexes: indexes as never }, 0);
    const documents = Object.entries(foldInMemory(projection, events));
    const writes = documents.map(([id, value], index) => ({
      kind: 'put' as const,
      id,
      order: index + 1,
      value,
      body: JSON.stringify(recordLast(value)),
      position: index + 1,
    }));
    for (let start = 0; start < writes.length; start += 10_000) {
      const part = writes.slice(start, start + 10_000);
      await writer.commit([{ generation, writes: part, checkpoint: start + part.length }]);
    }
    await writer.finish(generation);
    await writer.publish(generation);
    print(`${name}: ${format(documents.length)} documents.`);
  }
  await writer.close();
}

const hidden = { organizationId: 'corg00000001', projectId: 'cproject00000005', partnerId: 'cpartner00000001' };

function callerOf(keyType: KeyType): Caller {
  const organizationId = keyType === 'partner' ? 'cpartner00000001' : hidden.organizationId;
  const scopes = new Set<string>(scopesOfKeyType[keyType]);
  return { keyId: 'ckey', keyType, ...hidden, organizationId, scopes, hasAllScopes: true };
}

async function measure(store: ReadStore): Promise<void> {
  const panel = (name: string, query: unknown, keyType: KeyType, input: object) => ({
    name: `${keyType}: ${name}`,
    round: () => timed(() => ask(store, query as typeof getUsage, keyType, input)),
  });
  const ago = (hours: number) => new Date(Date.now() - hours * hourMs).toISOString();
  const panels = (['admin', 'partner', 'project'] as const).flatMap((keyType) => [
    ...[1, 24, 7 * 24, 30 * 24].map((hours) =>
      panel(`gateway, ${hours} h`, getGatewayDashboard, keyType, { from: ago(hours) }),
    ),
    ...[['model'], ['key'], ['project'], ['day']].map((groupBy) =>
      panel(`usage of 24 h by ${groupBy}`, getUsage, keyType, { from: ago(24), until: ago(0), groupBy }),
    ),
    panel('usage of 30 days by day and model', getUsage, keyType, {
      from: ago(30 * 24),
      until: ago(0),
      groupBy: ['day', 'model'],
    }),
  ]);
  const point = {
    name: 'point read',
    round: () => timed(() => store.get('usage-by-day', `${new Date().toISOString().slice(0, 10)}T00:00:00.000Z\nall`)),
  };
  const medians = await interleaved([point, ...panels], rounds);
  const pointMs = medians.get(point.name) ?? Number.NaN;
  print(`A point read takes ${pointMs.toFixed(3)} ms.`);
  printResults(
    panels.map(({ name }) => ({
      what: `${name} (${format((medians.get(name) ?? Number.NaN) / pointMs)} × a point read)`,
      figure: medians.get(name) ?? Number.NaN,
      unit: ' ms',
      required: panelMs,
      aim: panelMs / 2,
    })),
  );
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

async function ask(store: ReadStore, query: typeof getUsage, keyType: KeyType, input: object): Promise<void> {
  const question = { input, request: { caller: callerOf(keyType) }, time: new Date().toISOString() };
  const sources = { read: readersOf(store, query.reads), gatewayHealth: () => null };
  const answer = await query.answer(question as unknown as Parameters<typeof query.answer>[0], sources);
  if (E.isLeft(answer)) throw new Error(JSON.stringify(answer.left));
  if ('body' in answer.right) JSON.stringify(answer.right.body);
}
