import { parentPort, workerData } from 'node:worker_threads';
import { upcasters } from '#domain/upcasters.ts';
import { openSqliteEventReader } from '#event-store/sqlite/reader.ts';
import { type Upcast, upcastWith } from '#event-store/upcasting.ts';
import type { Log } from '#read-store/log.ts';
import { type AnyProjection, typesOf } from '#read-store/projection.ts';
import { type ProjectionRunner, startProjectionRunner } from '#read-store/projection-runner.ts';
import type { FromProjector, ProjectorThreadData, ToProjector } from '#read-store/projector-messages.ts';
import type { ReadStoreWriter } from '#read-store/read-store.ts';
import { ReadStoreDamaged, setAside } from '#read-store/sqlite/read-store-file.ts';
import { openSqliteReadStoreWriter } from '#read-store/sqlite/sqlite-read-store-writer.ts';

/** The projector thread: follows the event store's file and fills the read store's. `projector-thread.ts` starts it. */
interface ProjectionsModule {
  readonly projections: ReadonlyArray<AnyProjection>;
  readonly upcast?: Upcast;
}

const { eventStoreFile, readStoreFile, wake, projectionsModule } = workerData as ProjectorThreadData;
const log: Log = { info: logged('info'), warn: logged('warn'), error: logged('error') };

const { projections, upcast = upcastWith(upcasters) } = (await import(projectionsModule)) as ProjectionsModule;
const events = openSqliteEventReader({ file: eventStoreFile, upcast, wake });
const store = openSqliteReadStoreWriter(readStoreFile, (message) => log.warn({ file: readStoreFile }, message));
tell({ kind: 'opened', projections: projections.map((one) => ({ name: one.name, types: typesOf(one) })) });

let closing = false;
let runner: ProjectionRunner | null = null;
let told = '';
parentPort?.on('message', (message: ToProjector) => {
  if (message.kind === 'save-keys-last-used') void saveKeysLastUsed(store, message);
  else void close();
});

try {
  const onPositions = () => tellPositions();
  const onStatus = () => tellStatus();
  runner = await startProjectionRunner({ projections, events, store, log, onPositions, onStatus });
  tellPositions();
  tellStatus();
  if (closing) await runner.close();
  await runner.finished;
} catch (error) {
  await store.close();
  if (error instanceof ReadStoreDamaged) {
    log.error({ error: error.message, aside: setAside(readStoreFile) }, 'The read store is damaged: it is set aside');
  }
  throw error;
}
await closeAll();

async function close(): Promise<void> {
  closing = true;
  await runner?.close().catch(() => undefined);
}

async function closeAll(): Promise<void> {
  await store.close();
  await events.close();
  parentPort?.close();
}

async function saveKeysLastUsed(
  writer: ReadStoreWriter,
  { request, times }: ToProjector & { kind: 'save-keys-last-used' },
): Promise<void> {
  const failure = await writer.saveKeysLastUsed(times).then(
    () => null,
    (error: unknown) => String(error),
  );
  tell({ kind: 'keys-last-used-saved', request, failure });
}

function tellPositions(): void {
  if (runner === null) return;
  const served = runner.positions();
  const text = JSON.stringify(served);
  if (text === told) return;
  told = text;
  tell({ kind: 'positions', served });
}

function tellStatus(): void {
  if (runner === null) return;
  tell({ kind: 'status', statuses: runner.status(), ready: runner.ready() });
}

function logged(level: 'info' | 'warn' | 'error'): Log['info'] {
  return (fields, message) => tell({ kind: 'log', level, fields, message });
}

function tell(message: FromProjector): void {
  parentPort?.postMessage(message);
}
