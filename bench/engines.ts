import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EventStoreDbDoubleProcess } from '#test/support/eventstoredb/double-process.ts';
import { appends } from './engines/appends.ts';
import { catchUp } from './engines/catch-up.ts';
import { firstStart } from './engines/first-start.ts';
import { foreignEvents } from './engines/foreign-events.ts';
import { posts } from './engines/posts.ts';
import { projectionWrites } from './engines/projection-writes.ts';
import {
  type ForeignApplication,
  foreignApplicationIn,
  foreignApplicationOn,
} from './engines/service/foreign-application.ts';
import { takeover } from './engines/takeover.ts';
import { print, printResults, type Result } from './measure.ts';

/** A server with an empty log, or the server that the variable names. */
interface Server {
  readonly url: string;
  readonly application: ForeignApplication;
}

type Measurement = (server: Server, isQuick: boolean) => Promise<ReadonlyArray<Result>>;

const measurements: Readonly<Record<string, Measurement>> = {
  appends: ({ url }) => appends(url),
  posts: ({ url }, isQuick) => posts(url, isQuick),
  'first-start': ({ url }, isQuick) => firstStart(url, isQuick),
  'foreign-events': ({ url, application }, isQuick) => foreignEvents(url, application, isQuick),
  'catch-up': ({ url }) => catchUp(url),
  'projection-writes': () => projectionWrites(),
  takeover: ({ url }) => takeover(url),
};

/**
 * The service on EventStoreDB and MongoDB against the bare clients: on the double, or the server that
 * EVENTSTOREDB_TEST_URL names, and on FerretDB.
 * `npm run bench -- engines [quick] [name…]` runs shorter, and only the named measurements.
 */
export default async function engines(args: ReadonlyArray<string>): Promise<void> {
  const isQuick = args.includes('quick');
  const named = args.filter((name) => name !== 'quick');
  const unknown = named.filter((name) => !(name in measurements));
  if (unknown.length > 0) {
    print(`Unknown: ${unknown.join(', ')}. Known: quick, ${Object.keys(measurements).join(', ')}`);
    process.exitCode = 1;
    return;
  }
  const results: Result[] = [];
  for (const [name, measure] of Object.entries(measurements)) {
    if (named.length === 0 || named.includes(name)) results.push(...(await onServer(measure, isQuick)));
  }
  printResults(results);
}

/**
 * Each measurement has its own server, so that stored events do not slow the next one. The double syncs each append to
 * a file, as a server and the embedded store do.
 */
async function onServer(measure: Measurement, isQuick: boolean): Promise<ReadonlyArray<Result>> {
  const named = process.env.EVENTSTOREDB_TEST_URL;
  if (named) {
    const application = foreignApplicationOn(named);
    return measure({ url: named, application }, isQuick).finally(() => application.close());
  }
  const folder = await mkdtemp(join(tmpdir(), 'switchyard-bench-double-'));
  const double = await EventStoreDbDoubleProcess.start(join(folder, 'log'));
  try {
    return await measure({ url: double.url, application: foreignApplicationIn(double) }, isQuick);
  } finally {
    await double.end();
    await rm(folder, { recursive: true });
  }
}
