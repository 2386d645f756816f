import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import * as E from 'fp-ts/lib/Either.js';
import { readConfig } from '#app/config.ts';
import { describeAsOf, writeAsOf } from '#app/read-only.ts';
import { dayOrTime } from '#cli/shared/command-line.ts';
import { type OpenedStreams, openStreams } from '#cli/stores/event-logs.ts';
import { instant } from '#domain/codecs/time.ts';
import { eventCodecs, isKnownEventType } from '#domain/event-codecs.ts';
import { upcasters } from '#domain/upcasters.ts';
import { identityOfLog } from '#event-store/log-identity.ts';
import { LogTail } from '#event-store/log-tail.ts';
import { upcastWith } from '#event-store/recorded-event.ts';
import { Progress } from '#event-store/transfer/log-file/progress.ts';
import { type ProjectionRunner, startProjectionRunner } from '#projection-engine/projection-runner.ts';
import { projections } from '#projections/table.ts';
import { openSqliteReadStoreWriter } from '#read-store/sqlite/sqlite-read-store-writer.ts';
import { delay } from '#shared/async/timed-waits.ts';
import { StartupError } from '#shared/errors/startup-error.ts';
import { loggerOn } from '#shared/logging/pino-logger.ts';
import { findPlace, type LogPlace, logUntil } from './log-until.ts';

const lookIntervalMs = 200;

/**
 * Makes the read models of a past moment in a folder, for a service with READ_ONLY=true.
 * @param until a position, a time in RFC 3339, or a day: its beginning in UTC
 * @param into a folder that is empty, or not there yet
 * @returns the exit code
 * @throws StartupError, UnavailableError; the signal's reason
 */
export async function replayUntil(until: string, into: string, signal: AbortSignal): Promise<number> {
  const isAfter = isAfterOf(until);
  const folder = resolve(into);
  const { DATA_DIR, EVENT_STORE_URL, EVENT_STORE_STREAM_PREFIX } = process.env;
  const { eventStore } = readConfig({ DATA_DIR, EVENT_STORE_URL, EVENT_STORE_STREAM_PREFIX });
  const { streams: log, close } = await openStreams(eventStore, upcastWith(upcasters, isKnownEventType));
  try {
    const place = await shown('searched', (report) => findPlace(log, isAfter, report, signal));
    if (place.position === 0) throw new StartupError(`The log has no event up to ${until}.`);
    makeEmpty(folder);
    const identity = await fill(join(folder, 'read.db'), log, place, signal);
    const made = projections.map(({ name, version }) => ({ name, version }));
    const asOf = { position: place.position, time: place.time, log: identity };
    await writeAsOf(folder, { ...asOf, projections: made });
    process.stdout.write(`replayed ${place.events} events, as of ${describeAsOf({ ...asOf, projections: made })}\n`);
    return 0;
  } finally {
    await close();
  }
}

/** @throws StartupError for what is neither a position nor a time */
function isAfterOf(until: string): (position: number, time: string) => boolean {
  if (/^\d{1,15}$/.test(until)) return (position) => position > Number(until);
  const decoded = instant.decode(dayOrTime(until));
  if (E.isLeft(decoded))
    throw new StartupError('--until must be a position, a day, or an RFC 3339 time, like 2026-01-05T09:30:00Z');
  return (_position, time) => time > decoded.right;
}

function makeEmpty(folder: string): void {
  if (existsSync(folder) && readdirSync(folder).length > 0)
    throw new StartupError(`${folder} is not empty: name a folder that is not there yet.`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
}

/** @returns the identity of the log @throws StartupError if a projection has stopped */
async function fill(
  file: string,
  log: OpenedStreams['streams'],
  { position, events }: LogPlace,
  signal: AbortSignal,
): Promise<string> {
  const logger = loggerOn('error', process.stderr);
  const pages = logUntil(log, position);
  const tail = new LogTail({ pages, log: logger });
  const store = openSqliteReadStoreWriter(file, () => undefined);
  try {
    const runner = await startProjectionRunner({
      projections,
      knownTypes: Object.keys(eventCodecs),
      events: { read: (...given) => log.read(...given), lastPosition: () => pages.lastPosition() },
      tail,
      store,
      log: logger,
      signal,
    });
    await shown('replayed', async (report) => {
      while (!runner.ready() && !signal.aborted) {
        const fraction = placeOf(runner) / position;
        report(Math.floor(events * fraction), fraction);
        await Promise.race([runner.finished, delay(lookIntervalMs, signal)]);
      }
    });
    const stopped = runner.status().find(({ failure }) => failure !== null);
    await runner.close();
    signal.throwIfAborted();
    if (stopped !== undefined)
      throw new StartupError(`The projection ${stopped.name} stopped: ${stopped.failure?.message}.`);
    return (await identityOfLog(tail, signal)) ?? '';
  } finally {
    await tail.close();
    await store.close();
  }
}

/** The position of the slowest projection. */
function placeOf(runner: ProjectionRunner): number {
  return Math.min(...runner.status().map(({ position, rebuild }) => rebuild?.position ?? position));
}

async function shown<Result>(
  verb: string,
  work: (report: (events: number, fraction: number) => void) => Promise<Result>,
): Promise<Result> {
  const progress = new Progress(verb, process.stderr);
  try {
    return await work(progress.report);
  } finally {
    progress.end();
  }
}
