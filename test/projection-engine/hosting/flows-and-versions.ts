import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type AnyProjection, ignored, projection } from '#projection-engine/projection.ts';
import { type ProjectionRunner, startProjectionRunner } from '#projection-engine/projection-runner.ts';
import type { ReadStore, ReadStoreWriter } from '#read-store/read-store.ts';
import { openSqliteReadStore } from '#read-store/sqlite/sqlite-read-store.ts';
import { openSqliteReadStoreWriter } from '#read-store/sqlite/sqlite-read-store-writer.ts';
import type { GivenEvent, InMemoryEventStore } from '#test/support/fakes/in-memory-event-store.ts';
import { shownDocuments } from '#test/support/harness/shown-documents.ts';
import { eventually } from '#test/support/run/eventually.ts';

interface FlowEvents {
  readonly FlowCreated: { readonly flowId: string; readonly name: string };
  readonly FlowRenamed: { readonly flowId: string; readonly name: string };
  readonly FlowDeleted: { readonly flowId: string };
  readonly VersionCreated: { readonly flowId: string; readonly number: number };
}

/** `seen` counts events, so that an event applied twice or left out is visible. */
const flows: AnyProjection = projection<
  { readonly flowId: string; readonly name: string; readonly seen: number },
  FlowEvents
>({
  name: 'flows',
  version: 1,
  keys: (event) => [event.data.flowId],
  on: {
    FlowCreated: (_, { data }) => ({ ...data, seen: 100 }),
    FlowRenamed: (flow, { data }) => flow && { ...flow, name: data.name, seen: flow.seen + 1 },
    FlowDeleted: () => null,
    VersionCreated: ignored,
  },
  indexes: [['name']],
});

const versions: AnyProjection = projection<{ readonly flowId: string; readonly number: number }, FlowEvents>({
  name: 'versions',
  version: 1,
  keys: (event) => ('number' in event.data ? [`${event.data.flowId}-${event.data.number}`] : []),
  on: {
    FlowCreated: ignored,
    FlowRenamed: ignored,
    FlowDeleted: { removeWhere: ({ data }) => ({ flowId: data.flowId }) },
    VersionCreated: (_, { data }) => data,
  },
  indexes: [['flowId']],
});

/** Projections with all kinds of writes: documents put, put again, removed by id and by index. */
export const flowsAndVersions = [flows, versions];

/** Starts a runner of these projections, without a log. */
export function runFlowsAndVersions(events: InMemoryEventStore, store: ReadStoreWriter): Promise<ProjectionRunner> {
  const quiet = () => undefined;
  const log = { info: quiet, warn: quiet, error: quiet };
  return startProjectionRunner({ projections: flowsAndVersions, events, tail: events.tail, store, log });
}

/**
 * Waits until a runner's documents hold the whole log.
 * @throws Error at the limit
 */
export async function caughtUp(
  runner: ProjectionRunner,
  events: InMemoryEventStore,
  timeoutMs?: number,
): Promise<void> {
  const isCaughtUp = async () => {
    const end = await events.lastPosition();
    return runner.ready() && runner.positions().every(({ live, position }) => live && position >= end);
  };
  await eventually(isCaughtUp, 'everything is caught up', timeoutMs);
}

/** All documents of these projections that readers see. */
export function documentsOf(reader: ReadStore): ReturnType<typeof shownDocuments> {
  return shownDocuments(
    reader,
    flowsAndVersions.map(({ name }) => name),
  );
}

/** The documents of a SQLite store that is filled from the log. */
export async function documentsFromZero(events: InMemoryEventStore): ReturnType<typeof shownDocuments> {
  const folder = await mkdtemp(join(tmpdir(), 'from-zero-'));
  const file = join(folder, 'read.db');
  const writer = openSqliteReadStoreWriter(file, assert.fail);
  const reader = openSqliteReadStore(file);
  const runner = await runFlowsAndVersions(events, writer);
  await caughtUp(runner, events);
  const documents = await documentsOf(reader);
  await runner.close();
  await reader.close();
  await writer.close();
  await rm(folder, { recursive: true });
  return documents;
}

/** A history of flows that are created, changed and deleted. */
export function history(length: number, from = 0): ReadonlyArray<GivenEvent> {
  return Array.from({ length }, (_, index) => {
    const number = from + index;
    const flowId = `f${(number * 7) % 23}`;
    const stream = `flow-${flowId}`;
    if (number % 11 === 10) return { stream, type: 'FlowDeleted', data: { flowId } };
    if (number % 3 === 0) return { stream, type: 'FlowCreated', data: { flowId, name: flowId } };
    if (number % 3 === 1) return { stream, type: 'VersionCreated', data: { flowId, number } };
    return { stream, type: 'FlowRenamed', data: { flowId, name: `n${number}` } };
  });
}

/** An operator's request to rebuild the flows. */
export const rebuildRequest: GivenEvent = {
  stream: 'projection-flows',
  type: 'ProjectionRebuildRequested',
  data: { projection: 'flows' },
};
