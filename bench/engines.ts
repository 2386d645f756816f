import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EventStoreDbDoubleProcess } from '#test/support/eventstoredb/double-process.ts';
import type { Checkout } from './beside/checkout.ts';
import type { Figure, MeasureVersion } from './beside/compare.ts';
import { appends } from './engines/appends.ts';
import { catchUp } from './engines/catch-up.ts';
import { commandFigures, commandTimes } from './engines/commands.ts';
import { firstReads } from './engines/first-reads.ts';
import { firstStart, firstStartFigures } from './engines/first-start.ts';
import { foreignEvents } from './engines/foreign-events.ts';
import { commandCountFigures, commandCounts } from './engines/mongodb/command-counts.ts';
import { rebuild, rebuildFigures } from './engines/mongodb/rebuild.ts';
import { requestFigures, requestTimes } from './engines/mongodb/request-times.ts';
import { writersElsewhere, writersElsewhereFigures } from './engines/mongodb/writers-elsewhere.ts';
import { postFigures, posts } from './engines/posts.ts';
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

interface Measurement {
  /** Measures this version, and returns the figures that have bounds. */
  readonly alone: (server: Server, isQuick: boolean) => Promise<ReadonlyArray<Result>>;
  /** Measures one of two versions; absent if the measurement compares none. */
  readonly version?: (url: string, isQuick: boolean, checkout: Checkout) => Promise<ReadonlyArray<Figure>>;
}

/** The requests of each command. A comparison with another version repeats them in each round. */
const wholeSamples = 9;
const quickSamples = 3;

/** What is measured without a name. */
const byDefault = ['commands', 'mongodb'];

const measurements: Readonly<Record<string, Measurement>> = {
  commands: {
    alone: ({ url }, isQuick) => commandTimes(url, isQuick ? quickSamples : wholeSamples),
    version: (url, isQuick, checkout) => commandFigures(url, isQuick ? 1 : quickSamples, checkout),
  },
  'mongodb-requests': { alone: withoutBounds(requestTimes), version: requestFigures },
  'mongodb-commands': { alone: ({ url }, isQuick) => commandCounts(url, isQuick), version: commandCountFigures },
  'mongodb-writers': { alone: ({ url }, isQuick) => writersElsewhere(url, isQuick), version: writersElsewhereFigures },
  'mongodb-rebuild': { alone: withoutBounds(rebuild), version: rebuildFigures },
  'first-reads': { alone: ({ url }, isQuick) => firstReads(url, isQuick) },
  appends: { alone: ({ url }) => appends(url) },
  posts: { alone: ({ url }, isQuick) => posts(url, isQuick), version: postFigures },
  'first-start': { alone: ({ url }, isQuick) => firstStart(url, isQuick), version: firstStartFigures },
  'foreign-events': { alone: ({ url, application }, isQuick) => foreignEvents(url, application, isQuick) },
  'catch-up': { alone: ({ url }) => catchUp(url) },
  'projection-writes': { alone: () => projectionWrites() },
  takeover: { alone: ({ url }) => takeover(url) },
};

/**
 * The service on EventStoreDB and MongoDB: on the double and SecantusDB, or the servers that EVENTSTOREDB_TEST_URL and
 * MONGODB_TEST_URL name. `npm run bench -- engines` measures every command, and what requests, rest and a rebuild cost
 * MongoDB; `engines all` everything, against the bare clients too; `engines posts takeover` only the named measurements,
 * `engines mongodb` all whose names begin so. With `--quick` it runs shorter.
 */
export default async function engines(args: ReadonlyArray<string>): Promise<void> {
  const unknown = wordsOf(args).filter((word) => word !== 'all' && namedBy(word).length === 0);
  if (unknown.length > 0) {
    print(`Unknown: ${unknown.join(', ')}. Known: quick, all, ${Object.keys(measurements).join(', ')}`);
    process.exitCode = 1;
    return;
  }
  const results: Result[] = [];
  for (const { alone } of wantedBy(args)) results.push(...(await onServer((server) => alone(server, isQuick(args)))));
  if (results.length > 0) printResults(results);
}

/** Measures another version beside this one, as far as the named measurements compare versions. */
export function beside(args: ReadonlyArray<string>): MeasureVersion {
  const compared = wantedBy(args).flatMap(({ version }) => version ?? []);
  return async (checkout) => {
    const figures: Figure[] = [];
    for (const version of compared)
      figures.push(...(await onServer(({ url }) => version(url, isQuick(args), checkout))));
    return figures;
  };
}

/** Returns a measurement that prints its figures itself, because they have no bounds. */
function withoutBounds(measure: (url: string, isQuick: boolean) => Promise<void>): Measurement['alone'] {
  return async ({ url }, quick) => {
    await measure(url, quick);
    return [];
  };
}

function isQuick(args: ReadonlyArray<string>): boolean {
  return args.includes('quick');
}

/** Returns the words that choose measurements. */
function wordsOf(args: ReadonlyArray<string>): ReadonlyArray<string> {
  const words = args.filter((word) => word !== 'quick');
  return words.length === 0 ? byDefault : words;
}

/** Returns the names that a word chooses: its own, and those that begin with it. */
function namedBy(word: string): ReadonlyArray<string> {
  return Object.keys(measurements).filter((name) => name === word || name.startsWith(`${word}-`));
}

function wantedBy(args: ReadonlyArray<string>): ReadonlyArray<Measurement> {
  const words = wordsOf(args);
  const names = new Set(words.flatMap((word) => (word === 'all' ? Object.keys(measurements) : namedBy(word))));
  return Object.entries(measurements)
    .filter(([name]) => names.has(name))
    .map(([, measurement]) => measurement);
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
