import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EventStoreDbDoubleProcess } from '#test/support/eventstoredb/double-process.ts';
import type { MeasureVersion } from './beside/compare.ts';
import { appends } from './engines/appends.ts';
import { catchUp } from './engines/catch-up.ts';
import { commandFigures, commandTimes } from './engines/commands.ts';
import { firstReads } from './engines/first-reads.ts';
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

/** The requests of each command. A comparison with another version repeats them in each round. */
const wholeSamples = 9;
const quickSamples = 3;

const byDefault = 'commands';

const measurements: Readonly<Record<string, Measurement>> = {
  [byDefault]: ({ url }, isQuick) => commandTimes(url, isQuick ? quickSamples : wholeSamples),
  'first-reads': ({ url }, isQuick) => firstReads(url, isQuick),
  appends: ({ url }) => appends(url),
  posts: ({ url }, isQuick) => posts(url, isQuick),
  'first-start': ({ url }, isQuick) => firstStart(url, isQuick),
  'foreign-events': ({ url, application }, isQuick) => foreignEvents(url, application, isQuick),
  'catch-up': ({ url }) => catchUp(url),
  'projection-writes': () => projectionWrites(),
  takeover: ({ url }) => takeover(url),
};

/**
 * The service on EventStoreDB and MongoDB: on the double, or the server that EVENTSTOREDB_TEST_URL names, and on
 * FerretDB. `npm run bench -- engines` measures every command; `engines all` everything, against the bare clients too;
 * `engines posts takeover` only the named measurements. With `--quick` it runs shorter.
 */
export default async function engines(args: ReadonlyArray<string>): Promise<void> {
  const isQuick = args.includes('quick');
  const named = args.filter((name) => name !== 'quick');
  const unknown = named.filter((name) => name !== 'all' && !(name in measurements));
  if (unknown.length > 0) {
    print(`Unknown: ${unknown.join(', ')}. Known: quick, all, ${Object.keys(measurements).join(', ')}`);
    process.exitCode = 1;
    return;
  }
  const wanted = named.length === 0 ? [byDefault] : named;
  const results: Result[] = [];
  for (const [name, measure] of Object.entries(measurements)) {
    if (wanted.includes('all') || wanted.includes(name))
      results.push(...(await onServer((server) => measure(server, isQuick))));
  }
  printResults(results);
}

/** Measures every command of another version beside this one. */
export function beside(args: ReadonlyArray<string>): MeasureVersion {
  return (checkout) => onServer(({ url }) => commandFigures(url, args.includes('quick') ? 1 : quickSamples, checkout));
}

/**
 * Each measurement has its own server, so that stored events do not slow the next one. The double syncs each append to
 * a file, as a server and the embedded store do.
 */
async function onServer<Outcome>(measure: (server: Server) => Promise<Outcome>): Promise<Outcome> {
  const named = process.env.EVENTSTOREDB_TEST_URL;
  if (named) {
    const application = foreignApplicationOn(named);
    return measure({ url: named, application }).finally(() => application.close());
  }
  const folder = await mkdtemp(join(tmpdir(), 'switchyard-bench-double-'));
  const double = await EventStoreDbDoubleProcess.start(join(folder, 'log'));
  try {
    return await measure({ url: double.url, application: foreignApplicationIn(double) });
  } finally {
    await double.end();
    await rm(folder, { recursive: true });
  }
}
