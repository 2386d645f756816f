import { existsSync } from 'node:fs';
import type { Config } from '#app/config.ts';
import { waitForStore } from '#app/startup/wait-for-stores.ts';
import type { ReadStoreConfig } from '#app/store-config.ts';
import type { LogTail } from '#event-store/log-tail.ts';
import type { Admission } from '#exchange/admission.ts';
import type { Metrics } from '#http/routes/metrics.ts';
import type { Leases } from '#leases/leases.ts';
import { RoundTimes } from '#leases/round-times.ts';
import { type PositionSink, Positions } from '#positions/positions.ts';
import { EmbeddedProjections } from '#projection-engine/hosting/embedded-projections.ts';
import type { ProjectorEvents } from '#projection-engine/hosting/projector-messages.ts';
import type { ProjectionsProgress } from '#projection-engine/progress/projections-progress.ts';
import { ReadStoreNotes } from '#read-store/notes.ts';
import type { OperatorState, ReadStore } from '#read-store/read-store.ts';
import { openSqliteReadStore } from '#read-store/sqlite/sqlite-read-store.ts';
import type { RecordStore } from '#records/record-store.ts';
import type { Logger } from '#shared/logging/logger.ts';
import { limited } from './limited.ts';
import type { MongoDbConnections } from './mongodb-connections.ts';
import { embeddedWriterLimits, readStoreLimits } from './port-limits.ts';
import { buildSharedReadStore, runProjector } from './shared-read-store.ts';

const variable = 'READ_STORE_URL';

export interface OpenedReadStore {
  readonly documents: ReadStore;
  readonly projections: ProjectionsProgress;
  readonly positions: Positions;
  /** Receives the positions of what follows the log in this process. */
  readonly positionSink: PositionSink;
  /** Null if this process is the only one. */
  readonly leases: Leases | null;
}

export interface ReadStoreDependencies {
  readonly forProjector: () => ProjectorEvents;
  readonly admission: Admission;
  readonly tail: LogTail;
  readonly node: string;
  /** The records, with the notes of a shared read store. */
  readonly records: RecordStore;
  readonly metrics: Pick<Metrics, 'mongoDbCommand'>;
  readonly mongoDb: MongoDbConnections;
  readonly log: Logger;
  readonly opened: AsyncDisposableStack;
}

/** True if there are read models of a log. Call it before the store is opened. @throws UnavailableError */
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
  const writer = limited(
    openSqliteReadStoreWriter(file, () => undefined),
    embeddedWriterLimits,
  );
  try {
    return await writer.operatorState();
  } finally {
    await writer.close();
  }
}

/** Starts the projections if this node runs them. @throws StartupError */
export function openReadStore(config: Config, surroundings: ReadStoreDependencies): Promise<OpenedReadStore> {
  const { readStore } = config;
  if (readStore.kind === 'sqlite') return openEmbedded(readStore.path, surroundings);
  return openShared(readStore.url, config, surroundings);
}

async function openEmbedded(
  file: string,
  { admission, forProjector, log, opened }: ReadStoreDependencies,
): Promise<OpenedReadStore> {
  const positions = new Positions(admission);
  opened.defer(() => positions.close());
  const readStore = { kind: 'sqlite', file } as const;
  const projections = new EmbeddedProjections({ positions, events: forProjector, readStore, log });
  opened.defer(() => projections.close());
  await projections.start();
  const store = openSqliteReadStore(file, { onCommit: (listener) => projections.onCommit(listener) });
  const documents = limited(store, readStoreLimits);
  opened.defer(() => documents.close());
  return { documents, projections, positions, positionSink: positions, leases: null };
}

async function openShared(
  url: string,
  { roles, limits }: Config,
  { admission, forProjector, tail, node, records, metrics, mongoDb, log, opened }: ReadStoreDependencies,
): Promise<OpenedReadStore> {
  const [{ openMongoDbReadStore }, { openMongoDbRecordStore }, { openMongoDbLeaseStore }] = await Promise.all([
    import('#read-store/mongodb/mongodb-read-store.ts'),
    import('#records/mongodb/mongodb-record-store.ts'),
    import('#leases/lease-store.mongodb.ts'),
  ]);
  const queries = await mongoDb.to(url, variable, 'queries');
  const leaseTimes = new RoundTimes();
  const connection = await mongoDb.to(url, variable, 'leases', () => leaseTimes.callLimitMs);
  const { projections, ...shared } = buildSharedReadStore(
    {
      openDocuments: (announced) => openMongoDbReadStore({ connection: queries, records, announced }),
      leases: openMongoDbLeaseStore({ connection }),
      leaseTimes,
      polled: openMongoDbRecordStore({ connection }),
    },
    { admission, tail, log, opened },
  );
  await waitForStore(variable, log, () => shared.documents.status());
  await projections.start();
  if (roles.has('projections')) {
    const { mongoDbMaxPoolSize: maxPoolSize } = limits;
    const readStore = { kind: 'mongodb', url, urlName: variable, maxPoolSize, holder: node } as const;
    const options = { events: forProjector, readStore, leases: shared.leases, log };
    await runProjector(options, shared.positionSink, { metrics, opened });
  }
  return { projections, ...shared };
}
