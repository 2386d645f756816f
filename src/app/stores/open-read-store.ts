import { existsSync } from 'node:fs';
import type { Config } from '#app/config.ts';
import { waitForStore } from '#app/startup/wait-for-stores.ts';
import type { ReadStoreConfig } from '#app/store-config.ts';
import type { LogTail } from '#event-store/log-tail.ts';
import type { Metrics } from '#http/routes/metrics.ts';
import type { Leases } from '#leases/leases.ts';
import { NodeLeases } from '#leases/node-leases.ts';
import { type PositionSink, Positions } from '#positions/positions.ts';
import { EmbeddedProjections } from '#projection-engine/hosting/embedded-projections.ts';
import { PolledProjections } from '#projection-engine/hosting/polled-projections.ts';
import {
  followedBy,
  type ProjectorEvents,
  ProjectorThread,
  type ProjectorThreadOptions,
} from '#projection-engine/hosting/projector-thread.ts';
import type { ProjectionsProgress } from '#projection-engine/progress/projections-progress.ts';
import { eventTypesOf } from '#projection-engine/projection.ts';
import { projections as projectionTable } from '#projections/table.ts';
import { ReadStoreNotes } from '#read-store/notes.ts';
import { projectionsLease } from '#read-store/published-positions.ts';
import type { OperatorState, ReadStore } from '#read-store/read-store.ts';
import { openSqliteReadStore } from '#read-store/sqlite/sqlite-read-store.ts';
import type { RecordStore } from '#records/record-store.ts';
import type { Logger } from '#shared/logging/logger.ts';
import type { MongoDbConnections } from './mongodb-connections.ts';
import { polledPositions } from './polled-positions.ts';

const variable = 'READ_STORE_URL';

/** The opened read models. */
export interface OpenedReadStore {
  readonly documents: ReadStore;
  readonly projections: ProjectionsProgress;
  readonly positions: Positions;
  /** Where what follows the log in this process reports its positions. */
  readonly positionSink: PositionSink;
  /** The leases of nodes; null if this process is the only one. */
  readonly leases: Leases | null;
}

/** The dependencies of a read store: the log that fills it, and the logger. */
export interface ReadStoreDependencies {
  readonly forProjector: () => ProjectorEvents;
  readonly tail: LogTail;
  /** The unique name of this node. */
  readonly node: string;
  /** The records with the notes of a shared read store. */
  readonly records: RecordStore;
  readonly metrics: Pick<Metrics, 'mongoDbCommand'>;
  readonly mongoDb: MongoDbConnections;
  readonly log: Logger;
  /** Collects everything that must be closed. */
  readonly opened: AsyncDisposableStack;
}

/**
 * Whether the store has read models that were made from a log. Call it before the store is opened.
 * @throws UnavailableError
 */
export async function hasReadModels(store: ReadStoreConfig, records: RecordStore): Promise<boolean> {
  const { madeFrom = {} } =
    store.kind === 'sqlite'
      ? await embeddedOperatorState(store.path)
      : await new ReadStoreNotes(records).operatorState();
  return Object.keys(madeFrom).length > 0;
}

async function embeddedOperatorState(file: string): Promise<Partial<OperatorState>> {
  if (!existsSync(file)) return {};
  const { openSqliteReadStoreWriter } = await import('#read-store/sqlite/sqlite-read-store-writer.ts');
  const writer = openSqliteReadStoreWriter(file, () => undefined);
  try {
    return await writer.operatorState();
  } finally {
    await writer.close();
  }
}

/** Opens the configured read store, and starts the projections if this node runs them. @throws StartupError */
export function openReadStore(config: Config, surroundings: ReadStoreDependencies): Promise<OpenedReadStore> {
  const { readStore } = config;
  if (readStore.kind === 'sqlite') return openEmbedded(readStore.path, surroundings);
  return openShared(readStore.url, config, surroundings);
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
  return { documents, projections, positions, positionSink: positions, leases: null };
}

async function openShared(
  url: string,
  { roles, limits }: Config,
  { forProjector, tail, node, records, metrics, mongoDb, log, opened }: ReadStoreDependencies,
): Promise<OpenedReadStore> {
  const [{ openMongoDbReadStore }, { openMongoDbRecordStore }, { openMongoDbLeaseStore }] = await Promise.all([
    import('#read-store/mongodb/mongodb-read-store.ts'),
    import('#records/mongodb/mongodb-record-store.ts'),
    import('#leases/lease-store.mongodb.ts'),
  ]);
  const positions = new Positions();
  opened.defer(() => positions.close());
  let polledAt = () => Number.NEGATIVE_INFINITY;
  const announced = { generationOf: (name: string) => positions.generationOf(name), readAt: () => polledAt() };
  const queries = await mongoDb.to(url, variable, 'queries');
  const documents = openMongoDbReadStore({ connection: queries, records, announced });
  opened.defer(() => documents.close());
  await waitForStore(variable, log, () => documents.status());
  const connection = await mongoDb.to(url, variable, 'leases');
  const leases = new NodeLeases({ store: openMongoDbLeaseStore({ connection }) });
  opened.defer(() => leases.close());
  const polled = openMongoDbRecordStore({ connection });
  opened.defer(() => polled.close());
  const projections = new PolledProjections({
    projections: projectionTable.map((projection) => ({ name: projection.name, types: eventTypesOf(projection) })),
    positions,
    source: polledPositions(polled, tail),
    store: new ReadStoreNotes(polled),
    holder: async (token) => {
      const newest = (await leases.look()).get(projectionsLease);
      return newest?.token === token ? newest.holder : null;
    },
    log,
  });
  opened.defer(() => projections.close());
  polledAt = () => projections.polledAt;
  await projections.start();
  if (roles.has('projections')) {
    const { mongoDbMaxPoolSize: maxPoolSize } = limits;
    const readStore = { kind: 'mongodb', url, urlName: variable, maxPoolSize, holder: node } as const;
    const thread = projectorThread({ events: forProjector, readStore, leases, log }, projections.sink, metrics);
    opened.defer(() => thread.close());
    await thread.start();
  }
  return { documents, projections, positions, positionSink: projections.sink, leases };
}

/** Makes the thread that runs the projections while this node holds their lease, and reports their positions. */
function projectorThread(
  options: ProjectorThreadOptions,
  sink: PositionSink,
  metrics: ReadStoreDependencies['metrics'],
): ProjectorThread {
  let names: ReadonlyArray<string> = [];
  return new ProjectorThread(options, {
    onMessage: (message) => {
      if (message.kind === 'opened') names = message.projections.map(({ name }) => name);
      else if (message.kind === 'positions') sink.update('projection', followedBy(names, message.served));
      else if (message.kind === 'mongodb-commands') for (const ended of message.ended) metrics.mongoDbCommand(ended);
    },
    onExit: () => sink.update('projection', new Map()),
  });
}
