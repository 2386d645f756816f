import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * Fills a new event file with a realistic log, by the code of the version in a folder, in the format that it reads.
 * Arguments: the folder, the file, the number of events, and that of projects.
 */
const [folder = '', file = '', events = '0', projects = '0'] = process.argv.slice(2);
const { openSqliteEventStore } = (await load(
  'src/event-store/sqlite/sqlite-event-store.ts',
)) as typeof import('#event-store/sqlite/sqlite-event-store.ts');
const { writeRealisticLog } = (await load('bench/logs/realistic-log.ts')) as typeof import('./realistic-log.ts');

const store = await openSqliteEventStore({ file });
await writeRealisticLog(store, Number(events), 'lively', Number(projects));
await store.close();

function load(path: string): Promise<unknown> {
  return import(pathToFileURL(join(folder, path)).href);
}
