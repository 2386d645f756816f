import { parentPort, workerData } from 'node:worker_threads';
import { limited } from '#app/stores/limited.ts';
import {
  embeddedWriterLimits,
  eventReaderLimits,
  recordLimits,
  serverLogLimits,
  sharedWriterLimits,
} from '#app/stores/port-limits.ts';
import { eventCodecs } from '#domain/event-codecs.ts';
import { upcasters } from '#domain/upcasters.ts';
import { LogTail } from '#event-store/log-tail.ts';
import { type Upcast, upcastWith } from '#event-store/recorded-event.ts';
import { openSqliteEventReader } from '#event-store/sqlite/reader.ts';
import type { EndedCommand } from '#mongodb/command-monitor.ts';
import type { AnyProjection } from '#projection-engine/projection.ts';
import { type ProjectionRunner, startProjectionRunner } from '#projection-engine/projection-runner.ts';
import { ReadStoreDamagedError, setAside } from '#read-store/sqlite/read-store-file.ts';
import { openSqliteReadStoreWriter } from '#read-store/sqlite/sqlite-read-store-writer.ts';
import { Batcher } from '#shared/async/batcher.ts';
import { withTimeout } from '#shared/async/timed-waits.ts';
import { clock } from '#shared/clock.ts';
import { collectGarbageOfStart } from '#shared/memory/collect-garbage.ts';
import type { FromProjector, ProjectorEvents, ProjectorReadStore, ProjectorThreadData } from './projector-messages.ts';
import { ProjectorReports } from './projector-reports.ts';
import { runSharedProjector } from './shared-projector.ts';

/** The projector thread: follows the event store and fills the read store. `projector-thread.ts` starts it. */
interface ProjectionsModule {
  readonly projections: ReadonlyArray<AnyProjection>;
  readonly upcast?: Upcast;
}

/** Time limit of the thread's calls of a shared read store. */
const writeTimeoutMs = 10_000;
/**
 * How long a thread whose log has changed waits for its end. Mostly the main thread sees the change too, and closes this
 * thread; otherwise it fails, and its next start compares the read models with the log.
 */
const changedLogMs = 5_000;
/** A part that does not close must not keep this thread from ending, because another one takes its place. */
const closeMs = 5_000;
const commandBatches = { delayMs: 1_000, maxItemsAtOnce: 10_000 };

const data = workerData as ProjectorThreadData;
const reports = new ProjectorReports(post);
const { log } = reports;
const closing = new AbortController();

const { projections, upcast = upcastWith(upcasters) } = (await import(data.projectionsModule)) as ProjectionsModule;
const events = await openEvents(data.events);
// A file is never behind.
const tail = new LogTail({ pages: events, log, ...(data.events.kind === 'sqlite' && { graceMs: 0 }) });
tail.onChanged(({ lost }) => {
  log.error({ position: lost.position }, 'The log no longer has an event that the projector thread has read');
  clock
    .setTimeout(() => {
      throw new Error('The log no longer has what the projector thread has read.');
    }, changedLogMs)
    .unref();
});
const shared = { projections, knownTypes: Object.keys(eventCodecs), events, tail, signal: closing.signal };
try {
  if (data.readStore.kind === 'sqlite') await fillEmbedded(data.readStore.file);
  else await fillShared(data.readStore);
} finally {
  await closed(tail);
  await closed(events);
  parentPort?.close();
}

async function openEvents(from: ProjectorEvents) {
  if (from.kind === 'sqlite')
    return limited(openSqliteEventReader({ file: from.file, upcast, wake: from.wake }), eventReaderLimits);
  const { openEventStoreDbEventStore } = await import('#event-store/eventstoredb/eventstoredb-event-store.ts');
  // Debug lines are about single calls, so they are not worth a message between threads.
  const store = openEventStoreDbEventStore({ ...from, upcast, log: { ...log, debug: () => undefined } });
  return limited(store, serverLogLimits);
}

/** Fills the store until the thread is closed. Progress goes to the main thread. */
async function fillEmbedded(file: string): Promise<void> {
  const opened = openSqliteReadStoreWriter(file, (message) => log.warn({ file }, message));
  const store = limited(opened, embeddedWriterLimits);
  let runner: ProjectionRunner | null = null;
  parentPort?.on('message', () => closing.abort());
  reports.opened(projections);

  const onPositions = () => {
    if (runner !== null) reports.positions(runner.positions());
  };
  let isStarting = true;
  const onStatus = () => {
    if (runner === null) return;
    const ready = runner.ready();
    post({ kind: 'status', statuses: runner.status(), ready });
    if (ready && isStarting) collectGarbageOfStart();
    isStarting &&= !ready;
  };
  try {
    runner = await startProjectionRunner({ ...shared, store, log, onPositions, onStatus });
    onPositions();
    onStatus();
    await runner.finished;
  } catch (error) {
    await closed(store);
    if (error instanceof ReadStoreDamagedError) {
      log.error({ error: error.message, aside: setAside(file) }, 'The read store is damaged: it is set aside');
    }
    throw error;
  }
  await closed(store);
}

/** Fills the store while this node holds the lease, until the thread is closed. */
async function fillShared({
  url,
  urlName,
  maxPoolSize,
  holder,
}: ProjectorReadStore & { kind: 'mongodb' }): Promise<void> {
  const { leases } = data;
  if (leases === null) throw new Error('The projector thread got no leases for its shared read store.');
  const [{ openMongoDbReadStoreWriter }, { openMongoDbRecordStore }, { MongoDbAvailability }, { MongoDbConnection }] =
    await Promise.all([
      import('#read-store/mongodb/mongodb-read-store-writer.ts'),
      import('#records/mongodb/mongodb-record-store.ts'),
      import('#mongodb/mongodb-availability.ts'),
      import('#mongodb/mongodb-connection.ts'),
    ]);
  const commands = new Batcher<EndedCommand>((ended) => post({ kind: 'mongodb-commands', ended }), commandBatches);
  const onCommand = (ended: EndedCommand) => commands.add(ended);
  // The main thread logs outages.
  const availability = new MongoDbAvailability({ url, urlName, log, logsOutages: false, onCommand });
  const connection = new MongoDbConnection({ url, availability, timeoutMs: writeTimeoutMs, maxPoolSize, onCommand });
  const records = limited(openMongoDbRecordStore({ connection }), recordLimits);
  parentPort?.on('message', () => closing.abort());
  const openWriter = (fence: number, ending: AbortSignal) =>
    limited(openMongoDbReadStoreWriter({ connection, records, fence, signal: ending }), sharedWriterLimits);
  try {
    await runSharedProjector({ ...shared, openWriter, leases, holder, reports });
  } finally {
    for (const part of [records, connection, availability]) await closed(part);
    commands.drain();
  }
}

/** Waits for the close, but not longer than a limit: then the end of the thread closes it. */
function closed(part: { close(): Promise<void> }): Promise<void> {
  return withTimeout(closeMs, part.close(), undefined);
}

function post(message: FromProjector): void {
  parentPort?.postMessage(message);
}
