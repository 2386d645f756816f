import { parentPort, workerData } from 'node:worker_threads';
import { eventCodecs } from '#domain/shared/event-codecs.ts';
import { upcasters } from '#domain/shared/upcasters.ts';
import type { EventStore } from '#event-store/event-store.ts';
import { openSqliteEventReader } from '#event-store/sqlite/reader.ts';
import { type Upcast, upcastWith } from '#event-store/upcasting.ts';
import { type AnyProjection, eventTypesOf } from '#projection-engine/projection.ts';
import { type ProjectionRunner, startProjectionRunner } from '#projection-engine/projection-runner.ts';
import type { ReadStoreWriter } from '#read-store/read-store.ts';
import { ReadStoreDamaged, setAside } from '#read-store/sqlite/read-store-file.ts';
import { openSqliteReadStoreWriter } from '#read-store/sqlite/sqlite-read-store-writer.ts';
import type { Log } from '#shared/logging/read-store-log.ts';
import { runProjectionsUnderLease } from './leased-projections.ts';
import type {
  FromProjector,
  ProjectorEvents,
  ProjectorReadStore,
  ProjectorThreadData,
  ToProjector,
} from './projector-messages.ts';

/** The projector thread: follows the event store and fills the read store. `projector-thread.ts` starts it. */
interface ProjectionsModule {
  readonly projections: ReadonlyArray<AnyProjection>;
  readonly upcast?: Upcast;
}

type Events = Pick<EventStore, 'subscribe' | 'lastPosition' | 'close'>;

const data = workerData as ProjectorThreadData;
const log: Log = { info: logged('info'), warn: logged('warn'), error: logged('error') };
const closing = new AbortController();

const { projections, upcast = upcastWith(upcasters) } = (await import(data.projectionsModule)) as ProjectionsModule;
const knownTypes = Object.keys(eventCodecs);
const events = await openEvents(data.events);
try {
  if (data.readStore.kind === 'sqlite') await fillEmbedded(data.readStore.file);
  else await fillShared(data.readStore);
} finally {
  await events.close();
  parentPort?.close();
}

async function openEvents(from: ProjectorEvents): Promise<Events> {
  if (from.kind === 'sqlite') return openSqliteEventReader({ file: from.file, upcast, wake: from.wake });
  const { openEventStoreDbEventStore } = await import('#event-store/eventstoredb/eventstoredb-event-store.ts');
  // What is told at the lowest level is of single calls: not worth a message between threads.
  return openEventStoreDbEventStore({ url: from.url, upcast, log: { ...log, debug: () => undefined } });
}

/** Fills an embedded read store until the thread is closed, and tells the main thread how far it is. */
async function fillEmbedded(file: string): Promise<void> {
  const store = openSqliteReadStoreWriter(file, (message) => log.warn({ file }, message));
  let runner: ProjectionRunner | null = null;
  let told = '';
  parentPort?.on('message', (message: ToProjector) => {
    if (message.kind === 'close') return closing.abort();
    void save(store, message);
  });
  tellOpened();

  const onPositions = () => {
    if (runner === null) return;
    const served = runner.positions();
    const text = JSON.stringify(served);
    if (text === told) return;
    told = text;
    tell({ kind: 'positions', served });
  };
  const onStatus = () => {
    if (runner !== null) tell({ kind: 'status', statuses: runner.status(), ready: runner.ready() });
  };
  try {
    const { signal } = closing;
    runner = await startProjectionRunner({
      projections,
      knownTypes,
      events,
      store,
      log,
      onPositions,
      onStatus,
      signal,
    });
    onPositions();
    onStatus();
    await runner.finished;
  } catch (error) {
    await store.close();
    if (error instanceof ReadStoreDamaged) {
      log.error({ error: error.message, aside: setAside(file) }, 'The read store is damaged: it is set aside');
    }
    throw error;
  }
  await store.close();
}

/** Fills a read store that nodes share, whenever this one holds the lease, until the thread is closed. */
async function fillShared({ url, holder }: ProjectorReadStore & { kind: 'mongodb' }): Promise<void> {
  const [{ openMongoDbLeaseStore }, { openMongoDbReadStoreWriter }] = await Promise.all([
    import('#leases/mongodb/mongodb-lease-store.ts'),
    import('#read-store/mongodb/mongodb-read-store-writer.ts'),
  ]);
  const leases = openMongoDbLeaseStore({ url });
  parentPort?.on('message', () => closing.abort());
  tellOpened();
  const openWriter = (fence: number) => openMongoDbReadStoreWriter({ url, fence });
  const { signal } = closing;
  try {
    await runProjectionsUnderLease({ projections, knownTypes, events, openWriter, leases, holder, log, signal });
  } finally {
    await leases.close();
  }
}

async function save(writer: ReadStoreWriter, message: Exclude<ToProjector, { kind: 'close' }>): Promise<void> {
  const saved =
    message.kind === 'save-snapshot' ? writer.saveSnapshot(message.snapshot) : writer.saveKeysLastUsed(message.times);
  const failure = await saved.then(
    () => null,
    (error: unknown) => String(error),
  );
  tell({ kind: 'saved', request: message.request, failure });
}

function tellOpened(): void {
  tell({ kind: 'opened', projections: projections.map((one) => ({ name: one.name, types: eventTypesOf(one) })) });
}

function logged(level: 'info' | 'warn' | 'error'): Log['info'] {
  return (fields, message) => tell({ kind: 'log', level, fields, message });
}

function tell(message: FromProjector): void {
  parentPort?.postMessage(message);
}
