import { basename } from 'node:path';
import { DatabaseSync, StatementSync } from 'node:sqlite';
import {
  BroadcastChannel,
  getEnvironmentData,
  isMainThread,
  setEnvironmentData,
  threadName,
} from 'node:worker_threads';
import type { ServiceCounts, StatementCount } from './service-counts.ts';

// Loaded into each thread of the service before its own code (`node --import`). It counts the statements that read the
// event file. The threads share the counts in memory. What the counts belong to, each thread sends to the main thread
// when it first runs a statement, so that a count costs one addition.

const eventFile = 'events.db';
const readsLog = /\b(?:from|join)\s+(?:events|heads|marks)\b/i;
const maxStatements = 1_024;
const sharedName = 'counts of statements';
/** A thread without a name of its own has this one. */
const unnamed = 'WorkerThread';

interface Announcement {
  readonly slot: number;
  readonly thread: string;
  readonly sql: string;
}

/** The first number is that of used slots; a slot of each statement in each thread follows. */
const counts = isMainThread
  ? new Int32Array(new SharedArrayBuffer((maxStatements + 1) * Int32Array.BYTES_PER_ELEMENT))
  : (getEnvironmentData(sharedName) as Int32Array);
const thread = isMainThread ? 'main' : nameOfThread();
const slots = new Map<string, number>();
const announced: Announcement[] = [];
const channel = new BroadcastChannel(sharedName);

function nameOfThread(): string {
  return threadName === '' || threadName === unnamed ? basename(process.argv[1] ?? unnamed) : String(threadName);
}

function slotOf(sql: string): number {
  const known = slots.get(sql);
  if (known !== undefined) return known;
  const slot = Atomics.add(counts, 0, 1) + 1;
  if (slot > maxStatements) throw new Error('The benchmark has too few slots for statements.');
  slots.set(sql, slot);
  const announcement: Announcement = { slot, thread, sql };
  if (isMainThread) announced.push(announcement);
  else channel.postMessage(announcement);
  return slot;
}

function isOfEventFile(database: DatabaseSync): boolean {
  return basename(database.location() ?? '') === eventFile;
}

const counted = new WeakMap<StatementSync, number>();
const prepare = DatabaseSync.prototype.prepare;
DatabaseSync.prototype.prepare = function (this: DatabaseSync, ...given: Parameters<typeof prepare>) {
  const statement = prepare.apply(this, given);
  const sql = given[0].replaceAll(/\s+/g, ' ').trim();
  if (readsLog.test(sql) && isOfEventFile(this)) counted.set(statement, slotOf(sql));
  return statement;
};

for (const method of ['get', 'all', 'iterate', 'run'] as const) {
  const run = StatementSync.prototype[method] as (...values: unknown[]) => unknown;
  Object.assign(StatementSync.prototype, {
    [method](this: StatementSync, ...values: unknown[]) {
      const slot = counted.get(this);
      if (slot !== undefined) Atomics.add(counts, slot, 1);
      return run.apply(this, values);
    },
  });
}

function statementCounts(): ReadonlyArray<StatementCount> {
  return announced.map(({ slot, thread, sql }) => ({ thread, sql, count: Atomics.load(counts, slot) }));
}

function serviceCounts(): ServiceCounts {
  const { user, system } = process.threadCpuUsage();
  const all = process.cpuUsage();
  return { statements: statementCounts(), mainThreadUs: user + system, allThreadsUs: all.user + all.system };
}

channel.unref();
if (isMainThread) {
  setEnvironmentData(sharedName, counts);
  channel.onmessage = ({ data }) => announced.push(data as Announcement);
  channel.unref();
  process.on('message', (question) => {
    if (question === 'counts') process.send?.(serviceCounts());
  });
  process.channel?.unref();
}
