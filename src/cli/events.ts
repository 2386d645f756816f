import { keepNewFilesPrivate } from '#app/files/private-files.ts';
import { usageText } from '#cli/events/usage-archives.ts';
import { endOnClosedPipe } from '#cli/shared/command-line.ts';
import { InterruptedError, LogError } from '#event-store/transfer/log-failure.ts';
import { UnreadableStreamError } from '#event-store/unreadable-stream.ts';
import { StartupError } from '#shared/errors/startup-error.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { UsageArchiveError } from '#usage/archive/day-closing.ts';
import { printDigestKey, writeDigest } from './events/digests.ts';
import { readEventsArguments } from './events/events-arguments.ts';
import { exportEvents } from './events/export-events.ts';
import { importEvents } from './events/import-events.ts';
import { printMessage } from './events/report.ts';
import { skipEventAt } from './events/skip-event.ts';
import { archiveUsage, unarchiveTo } from './events/usage-archives.ts';
import { verifyEvents, verifyUsageArchives } from './events/verify-events.ts';

/** The exit code of shells after Ctrl-C. */
const interruptedCode = 130;

/** How long running work may take after a request to stop. Interrupting it loses nothing. */
const stopTimeoutMs = 5_000;

const interrupted = new AbortController();
// A second one ends the process immediately.
process.once('SIGINT', stop);
process.once('SIGTERM', stop);

keepNewFilesPrivate();
process.exitCode = await run(process.argv.slice(2)).catch(codeOf);

async function run(words: string[]): Promise<number> {
  endOnClosedPipe();
  const { signal } = interrupted;
  const asked = readEventsArguments(words);
  if (asked === null) {
    process.stderr.write(usageText);
    return 1;
  }
  switch (asked.command) {
    case 'help':
      process.stdout.write(usageText);
      return 0;
    case 'export':
      return exportEvents(asked, signal);
    case 'import':
      return importEvents(asked, signal);
    case 'verify':
      return verifyEvents(asked, signal);
    case 'skip-event':
      return skipEventAt(asked.position, asked.reason);
    case 'archive':
      return archiveUsage(asked.before);
    case 'archives':
      return verifyUsageArchives(asked, signal);
    case 'unarchive':
      return unarchiveTo(asked, signal);
    case 'digest':
      return writeDigest(asked.afterRestore);
    case 'digest-key':
      return printDigestKey(asked.public);
  }
}

/** @returns the exit code; @throws what only a defect can be */
function codeOf(error: unknown): number {
  const expected =
    error instanceof StartupError ||
    error instanceof LogError ||
    error instanceof InterruptedError ||
    error instanceof UnavailableError ||
    error instanceof UnreadableStreamError ||
    error instanceof UsageArchiveError ||
    isOfSystem(error);
  if (!expected) throw error;
  printMessage(error.message === '' ? 'stopped.' : error.message);
  return error instanceof InterruptedError ? interruptedCode : 1;
}

/** True for errors of the operating system, such as a missing file, whose message is enough. */
function isOfSystem(error: unknown): error is Error {
  return error instanceof Error && 'syscall' in error;
}

function stop(): void {
  interrupted.abort();
  setTimeout(() => {
    printMessage('interrupted before the end. To continue, run the same command again; an export needs --resume.');
    process.exit(interruptedCode);
  }, stopTimeoutMs).unref();
}
