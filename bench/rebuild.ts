import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openSqliteEventStore } from '#event-store/sqlite/sqlite-event-store.ts';
import { startEmbeddedProjections } from '#projection-engine/hosting/embedded-projections.ts';
import { writeBelievableLog } from './logs/believable-log.ts';
import { format, median, print, printResults } from './measure.ts';

const events = 1_000_000;
const rounds = 2;
const limitMilliseconds = 300_000;

interface Rebuild {
  readonly seconds: number;
  readonly peakMegabytes: number;
}

/**
 * Fills every read model from a log of a million events, nothing else running, in a process of its own; against
 * reading and parsing the same log without folding it. The log is made once and kept in the temporary folder.
 */
export default async function rebuild(args: ReadonlyArray<string>): Promise<void> {
  const folder = join(tmpdir(), 'switchyard-bench-log');
  if (args[0] === 'measure') return measure(folder);
  await prepareLog(folder);
  const readings: number[] = [];
  const rebuilds: Rebuild[] = [];
  for (let round = 0; round < rounds; round += 1) {
    readings.push(await readingPerSecond(folder));
    rebuilds.push(await inChild());
  }
  const perSecond = median(rebuilds.map(({ seconds }) => events / seconds));
  const reading = median(readings);
  print(`All read models from ${format(events)} events; medians of ${rounds} rounds`);
  print(
    `Reading and parsing alone: ${format(reading)} events/s; the rebuild goes at ${format(perSecond / reading)} of it.`,
  );
  print();
  printResults([
    { what: 'rebuild', figure: perSecond, unit: ' events/s', required: 50_000, aim: 100_000 },
    {
      what: 'memory peak of its process',
      figure: Math.max(...rebuilds.map(({ peakMegabytes }) => peakMegabytes)),
      unit: ' MB',
      required: 400,
      aim: 250,
    },
  ]);
}

async function prepareLog(folder: string): Promise<void> {
  if (await isReadable(folder)) return;
  await rm(folder, { recursive: true, force: true });
  print(`Making a log of ${format(events)} events in ${folder}, once.`);
  const unfinished = `${folder}-unfinished`;
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(unfinished);
  const store = await openSqliteEventStore({ file: join(unfinished, 'events.db') });
  await writeBelievableLog(store, events);
  await store.close();
  await rename(unfinished, folder);
}

/** Whether a log stands there that this release can read. */
async function isReadable(folder: string): Promise<boolean> {
  if (!existsSync(folder)) return false;
  return openSqliteEventStore({ file: join(folder, 'events.db') }).then(
    async (store) => {
      await store.close();
      return true;
    },
    () => false,
  );
}

async function readingPerSecond(folder: string): Promise<number> {
  const store = await openSqliteEventStore({ file: join(folder, 'events.db') });
  const started = performance.now();
  let count = 0;
  for await (const batch of store.subscribe({ after: 0, signal: AbortSignal.timeout(limitMilliseconds) })) {
    count += batch.events.length;
    if (batch.caughtUp) break;
  }
  const seconds = (performance.now() - started) / 1000;
  await store.close();
  return count / seconds;
}

/** Runs `measure` in a fresh process, whose memory is its own. */
async function inChild(): Promise<Rebuild> {
  const bench = join(import.meta.dirname, 'bench.ts');
  const child = spawn(process.execPath, [...process.execArgv, bench, 'rebuild', 'measure'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: limitMilliseconds,
  });
  let output = '';
  for await (const chunk of child.stdout) output += String(chunk);
  return JSON.parse(output) as Rebuild;
}

async function measure(folder: string): Promise<void> {
  const readFolder = await mkdtemp(join(tmpdir(), 'switchyard-bench-'));
  const store = await openSqliteEventStore({ file: join(folder, 'events.db') });
  const quiet = () => undefined;
  const started = performance.now();
  const projections = await startEmbeddedProjections({
    events: () => ({ kind: 'sqlite', file: join(folder, 'events.db'), wake: store.wakePort() }),
    readStore: { kind: 'sqlite', file: join(readFolder, 'read.db') },
    log: { info: quiet, warn: (_, message) => print(message), error: (_, message) => print(message) },
  });
  try {
    while (!projections.following().live) await sleep(5);
    const seconds = (performance.now() - started) / 1000;
    print(JSON.stringify({ seconds, peakMegabytes: process.resourceUsage().maxRSS / 1024 } satisfies Rebuild));
  } finally {
    await projections.close();
    await store.close();
    await rm(readFolder, { recursive: true });
  }
}
