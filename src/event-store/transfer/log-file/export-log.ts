import { parseTexts } from '#event-store/recorded-event.ts';
import { InterruptedError, LogError } from '#event-store/transfer/log-failure.ts';
import { pagesOf, type RawEvent, type RawLog } from '#event-store/transfer/raw-log.ts';
import { eventLine } from './event-line.ts';
import type { LogCheck } from './log-check.ts';
import { firstLine, lastLine } from './log-file.ts';
import type { Report } from './progress.ts';

export interface LineSink {
  /** True if there is a first line already, because an interrupted export is resumed. */
  readonly begun: boolean;
  /** The next line that exists already; null if the rest must be written. */
  held(): Promise<Buffer | null>;
  /** Writes lines after the existing ones. */
  write(lines: string): Promise<void>;
}

export interface ExportOptions {
  readonly log: RawLog;
  /** The kind of the log's store. */
  readonly from: string;
  readonly sink: LineSink;
  readonly check: LogCheck;
  readonly report: Report;
  readonly signal: AbortSignal;
}

/**
 * Exports the log up to its current end, line by line. Verifies every chain.
 * @throws LogError for a broken chain, or if the sink has lines of another log; InterruptedError; UnavailableError
 */
export async function exportLog({ log, from, sink, check, report, signal }: ExportOptions): Promise<void> {
  const end = await log.lastPosition();
  if (!sink.begun) await sink.write(firstLine(from, new Date()));
  let held = await sink.held();
  for await (const page of pagesOf(log, end)) {
    let lines = '';
    for (const event of page) {
      const texts = parseTexts(event);
      const line = `${eventLine(event, texts)}\n`;
      check.add(event, line, texts);
      if (held === null) lines += line;
      else {
        if (!held.equals(Buffer.from(line))) throw otherLog(check.events);
        held = await sink.held();
      }
    }
    if (lines !== '') await sink.write(lines);
    report(check.events, (page.at(-1)?.position ?? end) / end);
    if (signal.aborted) throw new InterruptedError();
  }
  if (held !== null) throw otherLog(check.events + 1);
  await sink.write(lastLine(check.summary()));
}

function otherLog(events: number): LogError {
  return new LogError(
    `Event ${events} of the export that was begun is not the one in the log: it is of another log, or was changed; remove it and export again.`,
  );
}

export interface VerifyOptions extends Pick<ExportOptions, 'log' | 'check' | 'report' | 'signal'> {
  readonly onVerified?: (event: RawEvent) => Promise<void> | undefined;
}

/** Verifies the log up to its current end. @throws LogError for a broken chain; InterruptedError; UnavailableError */
export async function verifyLog({ log, check, report, signal, onVerified }: VerifyOptions): Promise<void> {
  const end = await log.lastPosition();
  for await (const page of pagesOf(log, end)) {
    for (const event of page) {
      const texts = parseTexts(event);
      check.add(event, `${eventLine(event, texts)}\n`, texts);
      const further = onVerified?.(event);
      if (further !== undefined) await further;
    }
    report(check.events, (page.at(-1)?.position ?? end) / end);
    if (signal.aborted) throw new InterruptedError();
  }
}
