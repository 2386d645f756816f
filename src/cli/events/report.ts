import { InterruptedError, LogError } from '#event-store/transfer/log-failure.ts';
import type { LogCheck } from '#event-store/transfer/log-file/log-check.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import type { StoredEventDecoder } from './stored-event-decoder.ts';

const maxPrintedBreaks = 20;

/** Prints to standard error, because standard output is for the result. */
export function printMessage(line: string): void {
  process.stderr.write(`events: ${line}\n`);
}

/** Broken links that a verification has found. */
export interface BrokenLinks {
  readonly found: (fault: string) => void;
  /** @returns the exit code */
  readonly report: () => number;
}

/** Prints the first broken links immediately, and counts all. */
export function brokenLinks(): BrokenLinks {
  let count = 0;
  return {
    found: (fault) => {
      count += 1;
      if (count <= maxPrintedBreaks) printMessage(`BROKEN: ${fault}`);
    },
    report: () => {
      if (count > 0)
        printMessage(
          `${count} BROKEN: the log was changed, lacks events, is damaged, or was written by a newer release`,
        );
      return count === 0 ? 0 : 1;
    },
  };
}

export function describeLog(check: LogCheck): string {
  const { events, sha256 } = check.summary();
  return `${events} events in ${check.streams} streams, SHA-256 ${sha256}`;
}

/** A newer release wrote the events of these types, so they were not decoded. */
export function printUnknownTypes({ unknownTypes }: StoredEventDecoder): void {
  const types = [...unknownTypes].map(([type, count]) => `${type} (${count})`);
  if (types.length > 0)
    printMessage(`not decoded, because this release does not know their types: ${types.join(', ')}`);
}

/** Adds to the error's message how to continue. */
export function withAdvice(error: unknown, advice: string): unknown {
  if (error instanceof InterruptedError) return new InterruptedError(`stopped. ${advice}`);
  if (error instanceof UnavailableError) return new LogError(`${error.message} ${advice}`, { cause: error });
  return error;
}
