import * as t from 'io-ts';
import type { StoredEvent } from '#event-store/event-store.ts';
import { LogError } from '#event-store/transfer/log-failure.ts';
import { storedFormat } from '#shared/stored-format.ts';
import { eventOfLine } from './event-line.ts';
import { isWhole, linesOf } from './lines.ts';
import type { LogSummary } from './log-check.ts';

// A log file is NDJSON: a first line with the format, a line for each event in the log's order, a last line with the
// count and the hash. A file without its last line is incomplete.

const formVersion = 1;

const FirstLine = t.type({
  switchyardLog: t.intersection([
    t.type({ version: t.number, exportedAt: t.string, from: t.string }),
    /** The format of the events. Release 0.4.0 and older ones do not write it. */
    t.partial({ format: t.number }),
  ]),
});

const LastLine = t.type({ end: t.type({ events: t.number, sha256: t.string }) });

/** The line with its end. @param from the kind of the log's store */
export function firstLine(from: string, exportedAt: Date): string {
  const header: t.TypeOf<typeof FirstLine> = {
    switchyardLog: { version: formVersion, format: storedFormat, exportedAt: exportedAt.toISOString(), from },
  };
  return `${JSON.stringify(header)}\n`;
}

/** The line with its end. */
export function lastLine({ events, sha256 }: LogSummary): string {
  const footer: t.TypeOf<typeof LastLine> = { end: { events, sha256 } };
  return `${JSON.stringify(footer)}\n`;
}

export function isFirstLine(line: Buffer): boolean {
  return FirstLine.is(parsed(line));
}

export function isLastLine(line: Buffer): boolean {
  return line.subarray(0, 7).toString() === '{"end":' && LastLine.is(parsed(line));
}

export interface ExportedEvent {
  readonly event: StoredEvent;
  /** The line with its end. */
  readonly line: Buffer;
  /** The number of the line in the file, from 1. */
  readonly number: number;
}

/**
 * Reads a log file: its events, many at a time, then the summary in its last line, which the caller must compare.
 * @param name for messages
 * @throws LogError with the line's number, if it is not a log file, has a newer format, or was cut off
 */
export async function* readLogFile(
  chunks: AsyncIterable<Uint8Array>,
  name: string,
): AsyncGenerator<ReadonlyArray<ExportedEvent>, LogSummary, void> {
  let number = 0;
  let summary: LogSummary | null = null;
  for await (const lines of linesOf(chunks)) {
    const events: ExportedEvent[] = [];
    for (const line of lines) {
      number += 1;
      if (summary !== null) throw new LogError(`${name} continues after its last line (line ${number}).`);
      if (!isWhole(line)) throw cutOff(name, number - 1);
      if (number === 1) checkFirstLine(line, name);
      else if (isLastLine(line)) summary = (parsed(line) as t.TypeOf<typeof LastLine>).end;
      else events.push({ event: eventIn(line, name, number), line, number });
    }
    if (events.length > 0) yield events;
  }
  if (summary === null) throw cutOff(name, number);
  return summary;
}

function checkFirstLine(line: Buffer, name: string): void {
  const header = parsed(line);
  if (!FirstLine.is(header)) throw new LogError(`${name} is not an exported log: its first line does not say so.`);
  const { version, format = 1 } = header.switchyardLog;
  if (version > formVersion) throw newerError(name, version, formVersion);
  if (format > storedFormat) throw newerError(name, format, storedFormat);
}

function newerError(name: string, found: number, known: number): LogError {
  return new LogError(
    `${name} was written by a newer Switchyard (format ${found}, this one knows ${known}): import it with that release or a newer one.`,
  );
}

function eventIn(line: Buffer, name: string, number: number): StoredEvent {
  const event = eventOfLine(line.toString('utf8', 0, line.length - 1));
  if (event !== null) return event;
  throw new LogError(`Line ${number} of ${name} is not an event of an exported log: it was changed; export it again.`);
}

function cutOff(name: string, lines: number): LogError {
  return new LogError(
    `${name} is cut off after line ${lines}: its last line is missing. Resume the export, or export again.`,
  );
}

function parsed(line: Buffer): unknown {
  try {
    return JSON.parse(line.toString());
  } catch {
    return null;
  }
}
