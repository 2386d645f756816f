import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { isMainThread } from 'node:worker_threads';
import type { EventStore } from '#event-store/event-store.ts';
import type { IdleAppends } from './service-counts.ts';

// Loaded into the main thread of the service before its own code (`node --import`). It appends events to the service's
// own event store, of a type that no follower handles, and measures the processor time of the main thread. A store that
// is opened before the service's gives the class whose `append` shows the service's store at its first append.

const appends = 400;
const warmUps = 200;
/** Followers that were woken by the last append have ended their work after this pause. */
const settleMs = 100;
const event = { type: 'BenchmarkHappened', data: '{"text":"nobody handles this"}', metadata: '{"schemaVersion":1}' };

let serviceStore: EventStore | null = null;

async function findServiceStore(main: string): Promise<void> {
  const file = join(dirname(main), 'event-store/sqlite/sqlite-event-store.ts');
  const { openSqliteEventStore } = (await import(
    pathToFileURL(file).href
  )) as typeof import('#event-store/sqlite/sqlite-event-store.ts');
  const folder = await mkdtemp(join(tmpdir(), 'switchyard-bench-'));
  const first = await openSqliteEventStore({ file: join(folder, 'events.db') });
  const shared: Pick<EventStore, 'append'> = Object.getPrototypeOf(first);
  await first.close();
  await rm(folder, { recursive: true });
  const { append } = shared;
  shared.append = function (this: EventStore, ...given: Parameters<typeof append>) {
    serviceStore = this;
    return append.apply(this, given);
  };
}

/** Appends events one at a time. */
async function appendInOrder(store: EventStore, count: number): Promise<void> {
  const stream = `benchmark-${randomUUID()}`;
  for (let revision = -1; revision < count - 1; revision += 1) {
    const outcome = await store.append(stream, revision, [{ id: randomUUID(), ...event }]);
    if (outcome._tag === 'Left') throw new Error(`An append was refused: ${outcome.left.kind}`);
  }
  await sleep(settleMs);
}

/** @returns null if the service has appended nothing yet */
async function measure(): Promise<IdleAppends | null> {
  const store = serviceStore;
  if (store === null) return null;
  await appendInOrder(store, warmUps);
  const [before, began] = [process.threadCpuUsage(), performance.now()];
  await appendInOrder(store, appends);
  const { user, system } = process.threadCpuUsage(before);
  return { mainThreadUs: (user + system) / appends, ms: (performance.now() - began - settleMs) / appends };
}

if (isMainThread && process.argv[1]?.endsWith('main.ts')) {
  await findServiceStore(process.argv[1]);
  process.on('message', (question) => {
    if (question === 'idle appends') void measure().then((measured) => process.send?.(measured));
  });
  process.channel?.unref();
}
