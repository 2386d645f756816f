import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { median } from '#bench/measure.ts';
import type { EmbeddedProjections } from '#projection-engine/hosting/embedded-projections.ts';
import type { ReadStore } from '#read-store/read-store.ts';
import { openSqliteReadStore } from '#read-store/sqlite/sqlite-read-store.ts';

/** Reads that warm up, and reads that count. */
const readsBefore = 1000;
const pauseMs = 2;
const documents = 1000;

/**
 * Rebuilds every read model beside the documents that are read, as a release does that makes all of them otherwise.
 * @param file of a read store that is filled and that nobody has open
 * @param start starts the projections on it
 * @returns the median time of a read while they are rebuilt, against that of a read before
 */
export async function rebuildWhileReading(file: string, start: () => Promise<EmbeddedProjections>): Promise<number> {
  makeOutdated(file);
  const store = openSqliteReadStore(file);
  try {
    const { documents: flows } = await store.list('flows', {}, { limit: documents, maxBytes: Number.MAX_SAFE_INTEGER });
    const ids = flows.map(({ id }) => id);
    await readTimes(store, ids, (reads) => reads < readsBefore);
    const before = await readTimes(store, ids, (reads) => reads < readsBefore);
    const projections = await start();
    try {
      const during = await readTimes(store, ids, () => !projections.following().live);
      return median(during) / median(before);
    } finally {
      await projections.close();
    }
  } finally {
    await store.close();
  }
}

/** Makes the documents those of an earlier version of each projection. */
function makeOutdated(file: string): void {
  const database = new DatabaseSync(file);
  database.exec('UPDATE generation SET version = version - 1');
  database.close();
}

async function readTimes(
  store: ReadStore,
  ids: ReadonlyArray<string>,
  more: (reads: number) => boolean,
): Promise<ReadonlyArray<number>> {
  const times: number[] = [];
  while (more(times.length)) {
    const begun = performance.now();
    await store.get('flows', ids[times.length % ids.length] ?? '');
    times.push(performance.now() - begun);
    await sleep(pauseMs);
  }
  return times;
}
