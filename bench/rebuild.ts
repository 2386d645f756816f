import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openSqliteEventStore } from '#event-store/sqlite/sqlite-event-store.ts';
import { Admission } from '#exchange/admission.ts';
import { Positions } from '#positions/positions.ts';
import { EmbeddedProjections } from '#projection-engine/hosting/embedded-projections.ts';
import { type Checkout, here } from './beside/checkout.ts';
import type { MeasureVersion } from './beside/compare.ts';
import { nodeOf, sharedEnvironment } from './beside/node-command.ts';
import { eventsOf, parsedPerSecond, prepareLog } from './logs/prepared-log.ts';
import { rebuildWhileReading } from './logs/reads-while-rebuilding.ts';
import { format, median, print, printResults } from './measure.ts';

const rounds = 2;
const timeoutMs = 900_000;

interface Rebuild {
  readonly seconds: number;
  readonly peakMegabytes: number;
  /** The median of a read during a rebuild of everything, relative to that without a rebuild. */
  readonly slowdownOfReads: number;
}

/**
 * Fills every read model from a log of a million events (or the number in the argument) in an otherwise idle, separate
 * process, against reading and parsing the same log without folding it. Then fills them again while they are
 * read, and compares the median of a read with that before.
 */
export default async function rebuild(args: ReadonlyArray<string>): Promise<void> {
  if (args[0] === 'measure') return measure(args[1] ?? '');
  const events = eventsOf(args);
  const file = await prepareLog(events);
  const readings: number[] = [];
  const rebuilds: Rebuild[] = [];
  for (let round = 0; round < rounds; round += 1) {
    readings.push(await parsedPerSecond(file));
    rebuilds.push(await rebuildInChild(file, here));
  }
  const perSecond = median(rebuilds.map(({ seconds }) => events / seconds));
  const reading = median(readings);
  print(`All read models from ${format(events)} events; medians of ${rounds} rounds`);
  print(`Reading and parsing alone: ${format(reading)} events/s; the rebuild: ${format(perSecond)} events/s.`);
  print();
  printResults([
    { what: 'rebuild, of reading and parsing', figure: perSecond / reading, unit: ' ×', required: 0.3, aim: 0.35 },
    {
      what: 'memory peak of its process',
      figure: Math.max(...rebuilds.map(({ peakMegabytes }) => peakMegabytes)),
      unit: ' MB',
      required: 300,
      aim: 250,
    },
    {
      what: 'p50 of reads while everything is rebuilt, of that before',
      figure: median(rebuilds.map(({ slowdownOfReads }) => slowdownOfReads)),
      unit: ' ×',
      required: 1.5,
      aim: 1.2,
    },
  ]);
}

/** Measures another version beside this one, each by its own code. */
export function beside(args: ReadonlyArray<string>): MeasureVersion {
  const events = eventsOf(args);
  return async (checkout) => {
    const { seconds, peakMegabytes, slowdownOfReads } = await rebuildInChild(
      await prepareLog(events, checkout),
      checkout,
    );
    return [
      { what: `rebuild from ${format(events)} events`, value: events / seconds, unit: ' events/s' },
      { what: 'memory peak of its process', value: peakMegabytes, unit: ' MB' },
      { what: 'p50 of reads while everything is rebuilt, of that before', value: slowdownOfReads, unit: ' ×' },
    ];
  };
}

/** Rebuilds everything from an event file, in a new process of a version. */
export async function rebuildInChild(file: string, checkout: Checkout): Promise<Rebuild> {
  const args = ['--import', './src/app/startup/preload.mjs', 'bench/bench.ts', 'rebuild', 'measure', file];
  const child = spawn(nodeOf(checkout), args, {
    cwd: checkout.folder,
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: timeoutMs,
    // The same option as in the image.
    env: { ...sharedEnvironment(), MALLOC_ARENA_MAX: '2' },
  });
  let output = '';
  for await (const chunk of child.stdout) output += String(chunk);
  return JSON.parse(output) as Rebuild;
}

async function measure(file: string): Promise<void> {
  const readFolder = await mkdtemp(join(tmpdir(), 'switchyard-bench-'));
  const readFile = join(readFolder, 'read.db');
  const store = await openSqliteEventStore({ file });
  const quiet = () => undefined;
  const start = async () => {
    const projections = new EmbeddedProjections({
      positions: new Positions(new Admission()),
      events: () => ({ kind: 'sqlite', file, wake: store.changePort() }),
      readStore: { kind: 'sqlite', file: readFile },
      log: { info: quiet, warn: (_, message) => print(message), error: (_, message) => print(message) },
    });
    await projections.start();
    return projections;
  };
  try {
    const started = performance.now();
    const projections = await start();
    while (!projections.following().live) await sleep(5);
    const seconds = (performance.now() - started) / 1000;
    const peakMegabytes = process.resourceUsage().maxRSS / 1024;
    await projections.close();
    const slowdownOfReads = await rebuildWhileReading(readFile, start);
    print(JSON.stringify({ seconds, peakMegabytes, slowdownOfReads } satisfies Rebuild));
  } finally {
    await store.close();
    await rm(readFolder, { recursive: true });
  }
}
