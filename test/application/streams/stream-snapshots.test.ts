import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import {
  readSnapshot,
  type SnapshotStore,
  type StoredSnapshot,
  writeSnapshot,
} from '#application/streams/stream-snapshots.ts';
import { emptyStream, foldStream, requestAnswered } from '#application/streams/stream-state.ts';
import { StreamWriter } from '#application/streams/stream-writer.ts';
import { projectAgentProfiles } from '#domain/agent-profile/agent-profile.ts';
import type { FlowEvents } from '#domain/flow/events.ts';
import { flow } from '#domain/flow/flow.ts';
import { organization } from '#domain/organization/organization.ts';
import type { Entity, EventOf } from '#domain/shared/entity.ts';
import { defaultMoved, profileCreated } from '#test/support/events/agent-profile-events.ts';
import { begunFlow, versionActivated, versionCreated } from '#test/support/events/flow-events.ts';
import { ids, tenants } from '#test/support/events/tenants.ts';
import { AppendableEventStore } from '#test/support/fakes/appendable-event-store.ts';
import { recorded } from '#test/support/harness/recorded-events.ts';

const origin = { actor: { keyId: 'key', keyType: 'admin' }, requestId: 'r', correlationId: 'r', causationId: 'r' };
const stream = `flow-${ids.flow}`;

/** An in-memory store of snapshots that records its calls. */
class MemorySnapshots implements SnapshotStore {
  readonly kept = new Map<string, StoredSnapshot>();
  readonly asked: string[] = [];
  saves = 0;

  async read(of: string): Promise<StoredSnapshot | null> {
    this.asked.push(of);
    return this.kept.get(of) ?? null;
  }

  async save(snapshot: StoredSnapshot): Promise<void> {
    this.saves += 1;
    this.kept.set(snapshot.stream, snapshot);
  }
}

const append = async (writer: StreamWriter, events: ReadonlyArray<EventOf<FlowEvents>>, key?: string) => {
  const turn = await writer.beginTurn(flow, ids.flow);
  const idempotency = key === undefined ? {} : { idempotency: { key, body: 'body' } };
  const before = await turn.load();
  const { outcome } = await turn.append(before, { events, tenant: tenants.project, origin, ...idempotency });
  assert.equal((await outcome).kind, 'stored');
  turn.end();
};

const versions = (from: number, count: number) =>
  Array.from({ length: count }, (_, index) => versionCreated(from + index));

async function settled(snapshots: MemorySnapshots, saves: number): Promise<void> {
  for (let turn = 0; turn < 1_000 && snapshots.saves < saves; turn += 1) await nextTurn();
  assert.equal(snapshots.saves, saves);
}

/** A flow of 603 events with a snapshot of all of them, and 50 later events. */
async function longFlow() {
  const store = new AppendableEventStore();
  const snapshots = new MemorySnapshots();
  const writer = new StreamWriter({ store, snapshots });
  await append(writer, begunFlow() as never);
  await append(writer, versions(2, 600), 'key');
  await settled(snapshots, 1);
  await append(writer, versions(602, 50));
  return { store, snapshots, writer };
}

/** The state that a new process loads from the stream, and the revisions from which it reads. */
async function readFromStore(store: AppendableEventStore, snapshots?: SnapshotStore, entity: typeof flow = flow) {
  store.reads.length = 0;
  const writer = new StreamWriter({ store, ...(snapshots === undefined ? {} : { snapshots }) });
  const state = await writer.load(entity, ids.flow);
  return { state, reads: store.reads.map(([, revision]) => revision) };
}

const whole = [0, 100, 200, 300, 400, 500, 600];

describe('snapshots of a stream', () => {
  it('takes a snapshot of a long stream, and reads it instead of the earlier events', async () => {
    const { store, snapshots } = await longFlow();
    const { state, reads } = await readFromStore(store, snapshots);
    assert.deepEqual(reads, [0, 602, 603]);
    const unaided = await readFromStore(store);
    assert.deepEqual(unaided.reads, whole);
    assertSame(state, unaided.state);
    assert.equal(state.remembered.get('key')?.lastRevision, 602);
  });

  it('neither reads nor takes a snapshot of a short stream', async () => {
    const store = new AppendableEventStore();
    const snapshots = new MemorySnapshots();
    await append(new StreamWriter({ store, snapshots }), begunFlow() as never);
    await readFromStore(store, snapshots);
    for (let turn = 0; turn < 10; turn += 1) await nextTurn();
    assert.deepEqual([snapshots.asked, snapshots.saves], [[], 0]);
  });

  it('takes the next snapshot only after the stream has grown in proportion', async () => {
    const { snapshots, writer } = await longFlow();
    await append(writer, versions(652, 449));
    for (let turn = 0; turn < 50; turn += 1) await nextTurn();
    assert.equal(snapshots.saves, 1);
    await append(writer, versions(1_101, 1));
    await settled(snapshots, 2);
    assert.equal(snapshots.kept.get(stream)?.revision, 1_102);
  });

  it('does not use a snapshot for an earlier state', async () => {
    const { store, snapshots } = await longFlow();
    const fresh = new StreamWriter({ store, snapshots });
    assert.equal((await fresh.loadAt(flow, ids.flow, 300)).state?.lastVersionNumber, 299);
    assert.equal((await fresh.loadAt(flow, ids.flow, 620)).state?.lastVersionNumber, 619);
  });

  const unusable: ReadonlyArray<readonly [string, (kept: StoredSnapshot) => StoredSnapshot]> = [
    ['another log', (kept) => ({ ...kept, hash: 'another' })],
    ['a longer log', (kept) => ({ ...kept, revision: 5_000 })],
    ['another release', (kept) => ({ ...kept, stateVersion: 2 })],
    ['damaged text', (kept) => ({ ...kept, lines: kept.lines.map((line) => line.slice(0, 2_000)) })],
  ];
  for (const [what, change] of unusable) {
    it(`drops and replaces a snapshot when it is of ${what}`, async () => {
      const { store, snapshots } = await longFlow();
      const kept = snapshots.kept.get(stream);
      assert.ok(kept !== undefined);
      snapshots.kept.set(stream, change(kept));
      const { state } = await readFromStore(store, snapshots);
      assertSame(state, (await readFromStore(store)).state);
      await settled(snapshots, 2);
      assert.equal(snapshots.kept.get(stream)?.revision, 652);
    });
  }

  it('loads the same state when the store of snapshots fails', async () => {
    const { store } = await longFlow();
    const failing: SnapshotStore = {
      read: () => Promise.reject(new Error('it is down')),
      save: () => Promise.reject(new Error('it is down')),
    };
    const { state } = await readFromStore(store, failing);
    assert.equal(state.revision, 652);
    for (let turn = 0; turn < 50; turn += 1) await nextTurn();
  });

  it('stores no text of a client and no personal data in a snapshot', async () => {
    const { snapshots } = await longFlow();
    const body = snapshots.kept.get(stream)?.lines.join('\n') ?? '';
    for (const text of ['Opening hours', 'Answers when', 'hello 7', '"v7"']) assert.ok(!body.includes(text), text);
    assert.equal(organization.stateVersion, undefined);
  });

  it('writes no snapshot beyond the size limit', async () => {
    const state = foldStream(flow, emptyStream(flow), recorded(stream, [...begunFlow(), ...versions(2, 900)]));
    assert.equal(await writeSnapshot(state, 100_000), null);
  });

  const entities: ReadonlyArray<readonly [Entity<never, never>, Parameters<typeof recorded>[1]]> = [
    [flow as never, [...begunFlow(), ...versions(2, 700), versionActivated(9, 1)]],
    [projectAgentProfiles as never, [profileCreated(), defaultMoved(ids.profile, null)]],
    [projectAgentProfiles as never, []],
    [flow as never, []],
  ];
  for (const [entity, events] of entities) {
    it(`restores the state of ${events.length} events of the category ${entity.category} from a snapshot`, async () => {
      const keyed = recorded('stream', [...events, { type: requestAnswered, data: {} }]).map((event) => ({
        ...event,
        metadata: { ...event.metadata, idempotency: { key: `key ${event.revision}`, body: 'body' } },
      }));
      const state = foldStream(entity, emptyStream(entity), keyed);
      const lines = await writeSnapshot(state, Number.POSITIVE_INFINITY);
      assertSame(await readSnapshot(lines ?? []), state);
    });
  }
});

describe('concurrent readers of an uncached stream', () => {
  it('reads an uncached stream once for several concurrent readers', async () => {
    const { store } = await longFlow();
    const writer = new StreamWriter({ store, soleWriter: true });
    store.reads.length = 0;
    const states = await Promise.all(Array.from({ length: 16 }, () => writer.load(flow, ids.flow)));
    assert.deepEqual(
      store.reads.map(([, revision]) => revision),
      whole,
    );
    for (const { revision } of states) assert.equal(revision, 652);
  });
});

/** Compares the contents of two states, not the structure of their persistent maps. */
function assertSame(actual: unknown, expected: unknown): void {
  const plain = (value: unknown) => JSON.parse(JSON.stringify(value, spread));
  assert.ok(isDeepStrictEqual(plain(actual), plain(expected)), 'the states differ');
}

function spread(this: unknown, key: string, value: unknown): unknown {
  if (key === 'remembered') return [...(value as Iterable<unknown>)];
  return value;
}
