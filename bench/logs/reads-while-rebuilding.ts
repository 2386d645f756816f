import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { median } from '#bench/measure.ts';
import type { EmbeddedProjections } from '#projection-engine/hosting/embedded-projections.ts';
import type { ReadStore } from '#read-store/read-store.ts';
import { openSqliteReadStore } from '#read-store/sqlite/sqlite-read-store.ts';

/** The numbers of reads that warm up and of reads that count. */
const readsBefore = 1000;
const pauseMs = 2;
const documents = 1000;

/**
 * Rebuilds every read model beside the documents that are read, as a release with new versions of all projections does.
 * @param file of a filled read store that is not open
 * @param start starts the projections on it
 * @returns the median time of a read during the rebuild, relative to that of a read before
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

/** Marks the documents as those of an earlier version of each projection. */
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
