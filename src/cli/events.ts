import { createReadStream } from 'node:fs';
import { addAbortSignal } from 'node:stream';
import { readConfig } from '#app/config.ts';
import { keepNewFilesPrivate } from '#app/files/private-files.ts';
import type { EventStoreConfig } from '#app/store-config.ts';
import { InterruptedError, LogError } from '#event-store/transfer/log-failure.ts';
import { exportLog, type LineSink, verifyLog } from '#event-store/transfer/log-file/export-log.ts';
import {
  checkLogFile,
  type ImportResult,
  importLog,
  type LogFileSource,
} from '#event-store/transfer/log-file/import-log.ts';
import { streamSink } from '#event-store/transfer/log-file/line-stream.ts';
import { LogCheck } from '#event-store/transfer/log-file/log-check.ts';
import { PartFile } from '#event-store/transfer/log-file/part-file.ts';
import { Progress } from '#event-store/transfer/log-file/progress.ts';
import type { RawEvent } from '#event-store/transfer/raw-log.ts';
import { StartupError } from '#shared/errors/startup-error.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { UsageArchiveError } from '#usage/archive/usage-archive-error.ts';
import { openDigestCheck, printDigestKey, writeDigest } from './events/digests.ts';
import { type EventsArguments, readEventsArguments } from './events/events-arguments.ts';
import { StoredEventDecoder } from './events/stored-event-decoder.ts';
import { archiveUsage, unarchive, verifyArchives } from './events/usage-archives.ts';
import { endOnClosedPipe } from './shared/closed-pipe.ts';
import { openLog, openTarget } from './stores/event-logs.ts';

const usage = `Usage: npm run events -- <command>

  export <file>   writes the log to a file that does not exist yet; - is standard output
    --resume      continues an interrupted export
    --unverified  continues after a broken hash chain, and reports where it is; such a file cannot be imported
  import <file>   puts an exported log into a store; - is standard input
  verify          verifies the hash chain of every stream, and decodes every event
    --digests <folder>  and holds the log against the signed digests in a folder
    --key <file>        which this public key (PEM) must have signed; without it DIGEST_SIGNING_KEY and
                        DIGEST_OLD_PUBLIC_KEYS of the service
  archive         moves the metering of past days (streams usage-...) from the log to compressed files in the blob store;
                  their sums stay in the log
    --before <time>     days that end at this time or earlier: 2026-01-06, or 2026-01-06T00:00:00Z
  archives        verifies all these files, and holds them against the sums in the log
  unarchive <day> <file>  writes the metering of a day as an exported log, which import takes into an empty store
  digest          signs a digest of the log now
    --after-restore     begins a new chain of digests, after the log was restored or moved
  digest-key      makes a private key for DIGEST_SIGNING_KEY, and prints it
    --public            prints the public half of DIGEST_SIGNING_KEY instead

  --store <url>   the event store: sqlite:<file> or esdb://...; without it EVENT_STORE_URL, or events.db in DATA_DIR

The file has a line for each event, as it is stored and in the order of the log, a first line that says what it is, and
a last one with the count and a hash, which are the same for the same log on any engine: a file that was cut off or
changed is known. Every event is verified on the way out and in, and decoded on the way in: one whose data is not what
its type has is refused with its line, stream, revision and place.

Export may run beside the service: it ends where the log ended when it began. Import is refused where a service runs on
the embedded store; nothing should write to an EventStoreDB meanwhile. The target must be empty, or hold the first
events of this file: these are compared and kept. So the same command resumes an interrupted import, and a newer export
of the same log adds the new events. A file is verified completely before anything is stored; from standard input each
event is verified before it is stored, and the whole at the end.

Read models and the checkpoints of processes are not moved: a service that is started on the moved log rebuilds its read
models, whatever its read store held, and its processes read every event again, which changes nothing. Personal data is
moved encrypted, as it is stored; its keys are not in the log. Copy them with npm run subject-keys.

With - for a file, say npm run --silent, for npm writes to standard output too.
`;

/** As a shell names an end by Ctrl-C. */
const interruptedCode = 130;

/** For what is under way when it is asked to stop; nothing is lost where it is cut off. */
const stopTimeoutMs = 5_000;

const interrupted = new AbortController();
// A second one ends the process at once.
process.once('SIGINT', stop);
process.once('SIGTERM', stop);

const maxPrintedBreaks = 20;

keepNewFilesPrivate();
process.exitCode = await run(process.argv.slice(2)).catch(codeOf);

async function run(words: string[]): Promise<number> {
  endOnClosedPipe();
  const asked = readEventsArguments(words);
  if (asked === null) {
    process.stderr.write(usage);
    return 1;
  }
  switch (asked.command) {
    case 'help':
      process.stdout.write(usage);
      return 0;
    case 'export':
      return exportTo(asked);
    case 'import':
      return importFrom(asked);
    case 'verify':
      return verify(asked);
    case 'archive':
      return archiveUsage(asked.before);
    case 'archives':
      return checkArchives(asked);
    case 'unarchive':
      return unarchiveTo(asked);
    case 'digest':
      return writeDigest(asked.afterRestore);
    case 'digest-key':
      return printDigestKey(asked.public);
  }
}

async function exportTo({ file, flags, store }: EventsArguments): Promise<number> {
  const { log, kind, close } = await openLog(addressOf(store));
  const progress = new Progress('exported', process.stderr);
  const broken = flags.unverified ? brokenLinks() : null;
  const check = new LogCheck(broken?.found ?? null);
  const run = (sink: LineSink) =>
    exportLog({ log, from: kind, sink, check, report: progress.report, signal: interrupted.signal });
  try {
    if (file === '-') await run(streamSink(process.stdout));
    else await toFile(file, flags.resume, run);
  } finally {
    progress.end();
    await close();
  }
  say(`exported ${totalOf(check)}`);
  return broken?.report() ?? 0;
}

async function toFile(file: string, resume: boolean, run: (sink: LineSink) => Promise<void>): Promise<void> {
  const part = await PartFile.open(file, resume);
  try {
    await run(part);
  } catch (error) {
    await part.close();
    throw withAdvice(error, 'To continue, run the same command with --resume.');
  }
  await part.finish();
}

async function importFrom({ file, store }: EventsArguments): Promise<number> {
  const events = file === '-' ? null : await checkedFile(file);
  const { log: target, close } = await openTarget(addressOf(store));
  const progress = new Progress('imported', process.stderr);
  const decoder = new StoredEventDecoder();
  const check = new LogCheck(null, (event) => decoder.faultOf(event));
  let imported: ImportResult;
  try {
    const { report } = progress;
    imported = await importLog({ source: sourceOf(file), target, check, events, report, signal: interrupted.signal });
  } catch (error) {
    throw withAdvice(error, 'To continue, run the same command again.');
  } finally {
    progress.end();
    await close();
  }
  const held = imported.held === 0 ? '' : `, ${imported.held} of which were there already`;
  sayUnknown(decoder);
  say(`imported ${totalOf(check)}${held}`);
  return 0;
}

/** Verifies a whole file before a store is touched. @returns how many events it holds */
async function checkedFile(file: string): Promise<number> {
  const progress = new Progress('verified', process.stderr);
  const decoder = new StoredEventDecoder();
  const check = new LogCheck(null, (event) => decoder.faultOf(event));
  try {
    const source = sourceOf(file);
    return (await checkLogFile({ source, check, report: progress.report, signal: interrupted.signal })).events;
  } finally {
    progress.end();
  }
}

function sourceOf(file: string): LogFileSource {
  if (file === '-') return { name: 'standard input', open: () => addAbortSignal(interrupted.signal, process.stdin) };
  return { name: file, open: () => createReadStream(file, { highWaterMark: 1024 * 1024 }) };
}

async function verify({ store, digests: folder, key }: EventsArguments): Promise<number> {
  const broken = brokenLinks();
  const digests = folder === undefined ? null : await openDigestCheck(folder, key, { fault: broken.found, note: say });
  const { log, close } = await openLog(addressOf(store));
  const progress = new Progress('verified', process.stderr);
  const decoder = new StoredEventDecoder();
  const check = new LogCheck(broken.found, (event) => decoder.faultOf(event));
  const onVerified = (event: RawEvent) => digests?.take(event, check.heads);
  let held: string | null = null;
  try {
    await verifyLog({ log, check, report: progress.report, signal: interrupted.signal, onVerified });
    held = (await digests?.finish(check.heads)) ?? null;
  } finally {
    progress.end();
    await close();
  }
  sayUnknown(decoder);
  process.stdout.write(`verified ${totalOf(check)}\n`);
  if (held !== null) process.stdout.write(`held against ${held}\n`);
  return broken.report();
}

async function checkArchives({ store }: EventsArguments): Promise<number> {
  const broken = brokenLinks();
  await verifyArchives(addressOf(store), broken.found, interrupted.signal);
  return broken.report();
}

async function unarchiveTo({ day, file }: EventsArguments): Promise<number> {
  const part = file === '-' ? null : await PartFile.open(file, false);
  try {
    const events = await unarchive(day, part ?? streamSink(process.stdout), interrupted.signal);
    await part?.finish();
    say(`wrote ${events} events of ${day}`);
    return 0;
  } catch (error) {
    await part?.close();
    throw error;
  }
}

/** Only what concerns the event store is decoded: the rest is the service's. @throws StartupError */
function addressOf(store: string | undefined): EventStoreConfig {
  const { DATA_DIR, EVENT_STORE_URL, EVENT_STORE_STREAM_PREFIX } = process.env;
  try {
    return readConfig({ DATA_DIR, EVENT_STORE_URL: store ?? EVENT_STORE_URL, EVENT_STORE_STREAM_PREFIX }).eventStore;
  } catch (error) {
    if (store === undefined || !(error instanceof StartupError)) throw error;
    throw new StartupError(
      error.message.replaceAll('EVENT_STORE_URL=', '--store ').replaceAll('EVENT_STORE_URL', '--store'),
    );
  }
}

interface BrokenLinks {
  readonly found: (fault: string) => void;
  /** Prints how many there were. @returns the exit code */
  readonly report: () => number;
}

/** Counts broken links and prints the first ones as they are found. */
function brokenLinks(): BrokenLinks {
  let count = 0;
  return {
    found: (fault) => {
      count += 1;
      if (count <= maxPrintedBreaks) say(`BROKEN: ${fault}`);
    },
    report: () => {
      if (count > 0) say(`${count} BROKEN: the log was changed, is damaged, or was written by a newer release`);
      return count === 0 ? 0 : 1;
    },
  };
}

function totalOf(check: LogCheck): string {
  const { events, sha256 } = check.summary();
  return `${events} events in ${check.streams} streams, SHA-256 ${sha256}`;
}

/** Says which events were not decoded because a newer release wrote them. */
function sayUnknown({ unknownTypes }: StoredEventDecoder): void {
  const types = [...unknownTypes].map(([type, count]) => `${type} (${count})`);
  if (types.length > 0) say(`not decoded, for this release does not know their types: ${types.join(', ')}`);
}

function withAdvice(error: unknown, advice: string): unknown {
  if (error instanceof InterruptedError) return new InterruptedError(`stopped. ${advice}`);
  if (error instanceof UnavailableError) return new LogError(`${error.message} ${advice}`, { cause: error });
  return error;
}

/** @returns the exit code; @throws what only a defect can be */
function codeOf(error: unknown): number {
  const expected =
    error instanceof StartupError ||
    error instanceof LogError ||
    error instanceof InterruptedError ||
    error instanceof UnavailableError ||
    error instanceof UsageArchiveError ||
    isOfSystem(error);
  if (!expected) throw error;
  say(error.message === '' ? 'stopped.' : error.message);
  return error instanceof InterruptedError ? interruptedCode : 1;
}

/** No such file, no space left: the message says it. */
function isOfSystem(error: unknown): error is Error {
  return error instanceof Error && 'syscall' in error;
}

function stop(): void {
  interrupted.abort();
  setTimeout(() => {
    say('interrupted before the end. To continue, run the same command again; an export needs --resume.');
    process.exit(interruptedCode);
  }, stopTimeoutMs).unref();
}

function say(line: string): void {
  process.stderr.write(`events: ${line}\n`);
}
