import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { EventStoreDBClient } from '@eventstore/db-client';
import * as E from 'fp-ts/lib/Either.js';
import { StreamHistory } from '#application/history/stream-history.ts';
import type { StoredSnapshot } from '#application/streams/stream-snapshots.ts';
import { StreamWriter } from '#application/streams/stream-writer.ts';
import type { FlowEvents } from '#domain/flow/events.ts';
import { flow } from '#domain/flow/flow.ts';
import type { EventOf } from '#domain/shared/entity.ts';
import {
  type EventStoreDbEventStore,
  openEventStoreDbEventStore,
} from '#event-store/eventstoredb/eventstoredb-event-store.ts';
import { begunFlow, versionCreated } from '#test/support/events/flow-events.ts';
import { origin } from '#test/support/events/names.ts';
import { ids, tenants } from '#test/support/events/tenants.ts';
import { EventStoreDbDouble } from '#test/support/eventstoredb/eventstoredb-double.ts';

const stream = `test.flow-${ids.flow}`;
const unreadable = { name: 'UnreadableStreamError' };

describe('folds of a stream that someone else has shortened', () => {
  let double: EventStoreDbDouble;
  let client: EventStoreDBClient;
  let store: EventStoreDbEventStore;
  let writer: StreamWriter;
  const snapshots = new Map<string, StoredSnapshot>();
  const snapshotStore = {
    read: async (of: string) => snapshots.get(of) ?? null,
    save: async (snapshot: StoredSnapshot) => void snapshots.set(snapshot.stream, snapshot),
  };

  /** As a process without states in memory. */
  const newWriter = () => new StreamWriter({ store, snapshots: snapshotStore });
  const versions = (from: number, count: number) =>
    Array.from({ length: count }, (_, index) => versionCreated(from + index));
  const append = (by: StreamWriter, ...events: ReadonlyArray<EventOf<FlowEvents>>) => {
    const decide = () => E.right({ events, tenant: tenants.project });
    return by.write({ entity: flow, id: ids.flow, origin, decide });
  };
  const begun = begunFlow() as ReadonlyArray<EventOf<FlowEvents>>;

  beforeEach(async () => {
    double = await EventStoreDbDouble.start();
    client = EventStoreDBClient.connectionString(double.url);
    const silent = () => undefined;
    const log = { debug: silent, info: silent, warn: silent, error: silent };
    store = openEventStoreDbEventStore({ url: double.url, streamPrefix: 'test.', log });
    writer = newWriter();
  });

  afterEach(async () => {
    snapshots.clear();
    await store.close();
    await client.dispose();
    await double.kill();
  });

  it('are refused for the current state, an earlier one, and each question about the past', async () => {
    await append(writer, ...begun, ...versions(2, 20));
    await client.setStreamMetadata(stream, { truncateBefore: 5 });
    const history = new StreamHistory(store);
    await assert.rejects(newWriter().load(flow, ids.flow), unreadable);
    await assert.rejects(newWriter().loadAt(flow, ids.flow, 10), unreadable);
    await assert.rejects(newWriter().eventAt(flow, ids.flow, 4), unreadable);
    await assert.rejects(history.at(flow, ids.flow, 10), unreadable);
    await assert.rejects(history.revisionAt(flow, ids.flow, new Date().toISOString()), unreadable);
    await assert.rejects(history.steps(flow, ids.flow, 10).next(), unreadable);
  });

  it('are refused although a snapshot has what is missing', async () => {
    await append(writer, ...begun, ...versions(2, 300));
    await append(writer, ...versions(302, 300));
    for (let turn = 0; turn < 1_000 && snapshots.size === 0; turn += 1) await nextTurn();
    assert.equal((await newWriter().load(flow, ids.flow)).state?.lastVersionNumber, 601);
    await client.setStreamMetadata(stream, { truncateBefore: 200 });
    await assert.rejects(newWriter().load(flow, ids.flow), unreadable);
  });

  it('are refused by a writer that has the state in memory, once it reads a deleted stream', async () => {
    await append(writer, ...begun);
    await client.deleteStream(stream);
    await assert.rejects(writer.load(flow, ids.flow), unreadable);
  });

  it('are not decided on a state in memory once an append has found the stream closed', async () => {
    await append(writer, ...begun);
    await client.tombstoneStream(stream);
    await assert.rejects(append(writer, ...versions(2, 1)), unreadable);
    const { calls } = double;
    await assert.rejects(append(writer, ...versions(2, 1)), unreadable);
    assert.equal(double.calls - calls, 1, 'it only reads');
  });
});
