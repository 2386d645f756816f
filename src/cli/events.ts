import { createReadStream } from 'node:fs';
import { addAbortSignal } from 'node:stream';
import { parseArgs } from 'node:util';
import { type EventStoreConfig, readConfig } from '#app/config.ts';
import { keepNewFilesPrivate } from '#app/files/private-files.ts';
import { InterruptedError, LogError } from '#event-store/transfer/log-failure.ts';
import { exportLog, type LineSink, verifyLog } from '#event-store/transfer/log-file/export-log.ts';
import {
  checkLogFile,
  type Imported,
  importLog,
  type LogFileSource,
} from '#event-store/transfer/log-file/import-log.ts';
import { streamSink } from '#event-store/transfer/log-file/line-stream.ts';
import { LogCheck } from '#event-store/transfer/log-file/log-check.ts';
import { PartFile } from '#event-store/transfer/log-file/part-file.ts';
import { Progress } from '#event-store/transfer/log-file/progress.ts';
import { StartupError } from '#shared/errors/startup-error.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { openLog, openTarget } from './event-logs.ts';
import { StoredEventDecoder } from './stored-event-decoder.ts';

const usage = `Usage: npm run events -- <command>

  export <file>   writes the log to a file that does not exist yet; - is standard output
    --resume      goes on with an export that was cut off
    --unverified  goes on where a hash chain is broken, and says where; such a file cannot be imported
  import <file>   puts an exported log into a store; - is standard input
  verify          verifies the hash chain of every stream, and decodes every event

  --store <url>   the event store: sqlite:<file> or esdb://...; without it EVENT_STORE_URL, or events.db in DATA_DIR

The file has a line for each event, as it is stored and in the order of the log, a first line that says what it is, and
a last one with the count and a hash, which are the same for the same log on any engine: a file that was cut off or
changed is known. Every event is verified on the way out and in, and decoded on the way in: one whose data is not what
its type has is refused with its line, stream, revision and place.

Export may run beside the service: it ends where the log ended when it began. Import is refused where a service runs on
the embedded store; nothing should write to an EventStoreDB meanwhile. The target must be empty, or hold the first
events of this file: what is there is compared and left, so an import that was cut off is gone on with by the same
command, and a newer export of the same log adds what is new. A file is verified whole before anything is stored;
from standard input each event is verified before it is stored, and the whole at the end.

Read models and the places of processes are not moved: a service that is started on the moved log makes its read models
anew, whatever its read store held, and its processes look at every event again, which changes nothing. Personal data is
moved encrypted, as it is stored: its keys are not in the log. Take them along with npm run subject-keys.

With - for a file, say npm run --silent, for npm writes to standard output too.
`;

/** As a shell names an end by Ctrl-C. */
const interruptedCode = 130;

/** For what is under way when it is asked to stop; nothing is lost where it is cut off. */
const stopMilliseconds = 5_000;

const interrupted = new AbortController();
// A second one ends the process at once.
process.once('SIGINT', stop);
process.once('SIGTERM', stop);

const mostBrokenTold = 20;

interface Asked {
  readonly command: 'help' | 'export' | 'import' | 'verify';
  readonly file: string;
  readonly flags: { readonly resume: boolean; readonly unverified: boolean };
  /** The URL given on the command line. */
  readonly store: string | undefined;
}

keepNewFilesPrivate();
process.exitCode = await run(process.argv.slice(2)).catch(codeOf);

async function run(words: string[]): Promise<number> {
  const asked = askedFor(words);
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
  }
}

/** Null when it is not understood. */
function askedFor(words: string[]): Asked | null {
  const { values, positionals } = parsed(words) ?? { values: {}, positionals: [] };
  const { help = false, resume = false, unverified = false, store } = values;
  const [command, file = '', ...more] = positionals;
  const asked = { file, flags: { resume, unverified }, store };
  if (help) return { ...asked, command: 'help' };
  if (more.length > 0) return null;
  if (command === 'export' && file !== '' && !(file === '-' && resume)) return { ...asked, command };
  if (resume || unverified) return null;
  if (command === 'import' && file !== '') return { ...asked, command };
  if (command === 'verify' && file === '') return { ...asked, command };
  return null;
}

function parsed(words: string[]) {
  const options = {
    help: { type: 'boolean' },
    resume: { type: 'boolean' },
    unverified: { type: 'boolean' },
    store: { type: 'string' },
  } as const;
  try {
    return parseArgs({ args: words, options, allowPositionals: true });
  } catch {
    return null;
  }
}

async function exportTo({ file, flags, store }: Asked): Promise<number> {
  const { log, kind, close } = await openLog(addressOf(store));
  const progress = new Progress('exported', process.stderr);
  const broken = flags.unverified ? brokenLinks() : null;
  const check = new LogCheck(broken?.found ?? null);
  const run = (sink: LineSink) =>
    exportLog({ log, from: kind, sink, check, report: progress.report, signal: interrupted.signal });
  try {
    if (file === '-') await toStandardOutput(run);
    else await toFile(file, flags.resume, run);
  } finally {
    progress.end();
    await close();
  }
  say(`exported ${totalOf(check)}`);
  return broken?.told() ?? 0;
}

async function toStandardOutput(run: (sink: LineSink) => Promise<void>): Promise<void> {
  const closed = new Promise<never>((_resolve, reject) => {
    process.stdout.once('error', () => reject(new LogError('Standard output was closed before the end.')));
  });
  await Promise.race([run(streamSink(process.stdout)), closed]);
}

async function toFile(file: string, resume: boolean, run: (sink: LineSink) => Promise<void>): Promise<void> {
  const part = await PartFile.open(file, resume);
  try {
    await run(part);
  } catch (error) {
    await part.close();
    throw withAdvice(error, 'Go on with the same command and --resume.');
  }
  await part.finish();
}

async function importFrom({ file, store }: Asked): Promise<number> {
  const events = file === '-' ? null : await checkedFile(file);
  const { log: target, close } = await openTarget(addressOf(store));
  const progress = new Progress('imported', process.stderr);
  const decoder = new StoredEventDecoder();
  const check = new LogCheck(null, (event) => decoder.faultOf(event));
  let imported: Imported;
  try {
    const { report } = progress;
    imported = await importLog({ source: sourceOf(file), target, check, events, report, signal: interrupted.signal });
  } catch (error) {
    throw withAdvice(error, 'Go on with the same command.');
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

async function verify({ store }: Asked): Promise<number> {
  const { log, close } = await openLog(addressOf(store));
  const progress = new Progress('verified', process.stderr);
  const broken = brokenLinks();
  const decoder = new StoredEventDecoder();
  const check = new LogCheck(broken.found, (event) => decoder.faultOf(event));
  try {
    await verifyLog({ log, check, report: progress.report, signal: interrupted.signal });
  } finally {
    progress.end();
    await close();
  }
  sayUnknown(decoder);
  process.stdout.write(`verified ${totalOf(check)}\n`);
  return broken.told();
}

/** Only what concerns the event store is decoded: the rest is the service's. @throws StartupError */
function addressOf(store: string | undefined): EventStoreConfig {
  const { DATA_DIR, EVENT_STORE_URL } = process.env;
  try {
    return readConfig({ DATA_DIR, EVENT_STORE_URL: store ?? EVENT_STORE_URL }).eventStore;
  } catch (error) {
    if (store === undefined || !(error instanceof StartupError)) throw error;
    throw new StartupError(
      error.message.replaceAll('EVENT_STORE_URL=', '--store ').replaceAll('EVENT_STORE_URL', '--store'),
    );
  }
}

interface BrokenLinks {
  readonly found: (fault: string) => void;
  /** Tells how many there were. @returns the exit code */
  readonly told: () => number;
}

/** Broken links, the first of which are told of as they are found. */
function brokenLinks(): BrokenLinks {
  let count = 0;
  return {
    found: (fault) => {
      count += 1;
      if (count <= mostBrokenTold) say(`BROKEN: ${fault}`);
    },
    told: () => {
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
    say('stopped in the middle of something. Go on with the same command; an export needs --resume.');
    process.exit(interruptedCode);
  }, stopMilliseconds).unref();
}

function say(line: string): void {
  process.stderr.write(`events: ${line}\n`);
}
