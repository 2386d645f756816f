import { existsSync } from 'node:fs';
import type { Config } from '#app/config.ts';
import { waitForStore } from '#app/startup/wait-for-store.ts';
import type { ReadStoreConfig } from '#app/store-config.ts';
import type { EventStore } from '#event-store/event-store.ts';
import type { LeaseStore } from '#leases/lease-store.ts';
import { type PositionSink, Positions } from '#positions/positions.ts';
import type { CheckpointStore } from '#process-engine/checkpoints/checkpoint-store.ts';
import { EmbeddedProjections } from '#projection-engine/hosting/embedded-projections.ts';
import { projectionsLease } from '#projection-engine/hosting/leased-projections.ts';
import { PolledProjections } from '#projection-engine/hosting/polled-projections.ts';
import { followedBy, type ProjectorEvents } from '#projection-engine/hosting/projector-messages.ts';
import { ProjectorThread, type ProjectorThreadOptions } from '#projection-engine/hosting/projector-thread.ts';
import type { ProjectionsProgress } from '#projection-engine/progress/projections-progress.ts';
import { eventTypesOf } from '#projection-engine/projection.ts';
import { projections as projectionTable } from '#projections/table.ts';
import type { ReadStore, ReadStoreWriter } from '#read-store/read-store.ts';
import type { SnapshotStore } from '#read-store/snapshot-store.ts';
import { openSqliteReadStore } from '#read-store/sqlite/sqlite-read-store.ts';
import { withVariableName } from '#shared/errors/startup-error.ts';
import type { Logger } from '#shared/logging/logger.ts';
import type { MongoDbAvailabilities } from './mongodb-availabilities.ts';
import { polledPositions } from './polled-positions.ts';

const variable = 'READ_STORE_URL';

/** The time limit of reads that are repeated many times a second. */
const pollIntervalMs = 1_000;

/** The opened read models. */
export interface OpenedReadStore {
  readonly documents: ReadStore;
  readonly projections: ProjectionsProgress;
  readonly positions: Positions;
  /** Where what follows the log in this process reports its positions. */
  readonly positionSink: PositionSink;
  /** Stores when keys were last used. A later stored time stays. @throws UnavailableError */
  readonly saveKeysLastUsed: (times: ReadonlyMap<string, string>) => Promise<void>;
  /** The snapshots of long streams, for commands. */
  readonly snapshots: SnapshotStore;
  /** The leases of nodes; null if this process is the only one. */
  readonly leases: LeaseStore | null;
}

/** The dependencies of a read store: the log that fills it, and the logger. */
export interface ReadStoreDependencies {
  readonly forProjector: () => ProjectorEvents;
  readonly events: Pick<EventStore, 'subscribe'>;
  readonly checkpoints: Pick<CheckpointStore, 'peek'>;
  /** The unique name of this node. */
  readonly node: string;
  readonly mongoDb: MongoDbAvailabilities;
  readonly log: Logger;
  /** Collects everything that must be closed. */
  readonly opened: AsyncDisposableStack;
}

/**
 * Whether the store has read models that were made from a log. Call it before the store is opened.
 * @throws UnavailableError
 */
export async function hasReadModels(store: ReadStoreConfig, mongoDb: MongoDbAvailabilities): Promise<boolean> {
  if (store.kind === 'sqlite' && !existsSync(store.path)) return false;
  const writer = store.kind === 'sqlite' ? await sqliteWriter(store.path) : await mongoDbWriter(store.url, mongoDb);
  try {
    const { madeFrom = {} } = await writer.operatorState();
    return Object.keys(madeFrom).length > 0;
  } finally {
    await writer.close();
  }
}

async function sqliteWriter(file: string): Promise<ReadStoreWriter> {
  const { openSqliteReadStoreWriter } = await import('#read-store/sqlite/sqlite-read-store-writer.ts');
  return openSqliteReadStoreWriter(file, () => undefined);
}

async function mongoDbWriter(url: string, mongoDb: MongoDbAvailabilities): Promise<ReadStoreWriter> {
  const { openMongoDbReadStoreWriter } = await import('#read-store/mongodb/mongodb-read-store-writer.ts');
  const availability = await mongoDb.at(url, variable);
  return withVariableName(variable, () => openMongoDbReadStoreWriter({ url, availability }));
}

/** Opens the configured read store, and starts the projections if this node runs them. @throws StartupError */
export function openReadStore(config: Config, surroundings: ReadStoreDependencies): Promise<OpenedReadStore> {
  const { readStore, roles } = config;
  if (readStore.kind === 'sqlite') return openEmbedded(readStore.path, surroundings);
  return openShared(readStore.url, roles.has('projections'), surroundings);
}

async function openEmbedded(
  file: string,
  { forProjector, log, opened }: ReadStoreDependencies,
): Promise<OpenedReadStore> {
  const positions = new Positions();
  opened.defer(() => positions.close());
  const readStore = { kind: 'sqlite', file } as const;
  const projections = new EmbeddedProjections({ positions, events: forProjector, readStore, log });
  opened.defer(() => projections.close());
  await projections.start();
  const documents = openSqliteReadStore(file, { onCommit: (listener) => projections.onCommit(listener) });
  opened.defer(() => documents.close());
  const snapshots = snapshotsIn(documents, (snapshot) => projections.saveSnapshot(snapshot));
  const saveKeysLastUsed = (times: ReadonlyMap<string, string>) => projections.saveKeysLastUsed(times);
  const followed = { projections, positions, positionSink: positions };
  return { ...followed, documents, saveKeysLastUsed, snapshots, leases: null };
}

async function openShared(
  url: string,
  runsProjections: boolean,
  { forProjector, events, checkpoints, node, mongoDb, log, opened }: ReadStoreDependencies,
): Promise<OpenedReadStore> {
  const [{ openMongoDbReadStore }, { openMongoDbReadStoreWriter }, { openMongoDbLeaseStore }] = await Promise.all([
    import('#read-store/mongodb/mongodb-read-store.ts'),
    import('#read-store/mongodb/mongodb-read-store-writer.ts'),
    import('#leases/mongodb/mongodb-lease-store.ts'),
  ]);
  const availability = await mongoDb.at(url, variable);
  const documents = withVariableName(variable, () => openMongoDbReadStore({ url, availability }));
  opened.defer(() => documents.close());
  await waitForStore(variable, log, () => documents.status());
  const leases = openMongoDbLeaseStore({ url, availability });
  opened.defer(() => leases.close());
  // It has separate connections, so that it never waits for other users' connections.
  const polled = openMongoDbReadStore({ url, availability, timeoutMs: pollIntervalMs });
  opened.defer(() => polled.close());
  const positions = new Positions();
  opened.defer(() => positions.close());
  const projections = new PolledProjections({
    projections: projectionTable.map((projection) => ({ name: projection.name, types: eventTypesOf(projection) })),
    positions,
    source: polledPositions(polled, checkpoints, events),
    store: polled,
    holder: async (token) => {
      const newest = await leases.newest(projectionsLease);
      return newest?.token === token ? newest.holder : null;
    },
    log,
  });
  opened.defer(() => projections.close());
  await projections.start();
  if (runsProjections) {
    const readStore = { kind: 'mongodb', url, urlName: variable, holder: node } as const;
    const thread = projectorThread({ events: forProjector, readStore, log }, projections.sink);
    opened.defer(() => thread.close());
    await thread.start();
  }
  const writer = openMongoDbReadStoreWriter({ url, availability });
  opened.defer(() => writer.close());
  const snapshots = snapshotsIn(documents, (snapshot) => writer.saveSnapshot(snapshot));
  const followed = { projections, positions, positionSink: projections.sink, leases };
  return { ...followed, documents, saveKeysLastUsed: (times) => writer.saveKeysLastUsed(times), snapshots };
}

/** Makes the thread that runs the projections while this node holds their lease, and reports their positions. */
function projectorThread(options: ProjectorThreadOptions, sink: PositionSink): ProjectorThread {
  let names: ReadonlyArray<string> = [];
  return new ProjectorThread(options, {
    onMessage: (message) => {
      if (message.kind === 'opened') names = message.projections.map(({ name }) => name);
      else if (message.kind === 'positions') sink.update('projection', followedBy(names, message.served));
    },
    onExit: () => sink.update('projection', new Map()),
  });
}

function snapshotsIn(documents: ReadStore, save: SnapshotStore['save']): SnapshotStore {
  return { read: (stream) => documents.snapshot(stream), save };
}
