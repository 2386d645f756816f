import { createReadStream } from 'node:fs';
import { addAbortSignal } from 'node:stream';
import { openTarget } from '#cli/stores/event-logs.ts';
import {
  checkLogFile,
  type ImportResult,
  importLog,
  type LogFileSource,
} from '#event-store/transfer/log-file/import-log.ts';
import { LogCheck } from '#event-store/transfer/log-file/log-check.ts';
import { Progress } from '#event-store/transfer/log-file/progress.ts';
import { type EventsArguments, readLogAddress } from './events-arguments.ts';
import { describeLog, printMessage, printUnknownTypes, withAdvice } from './report.ts';
import { StoredEventDecoder } from './stored-event-decoder.ts';

/** @returns the exit code */
export async function importEvents({ file, store }: EventsArguments, signal: AbortSignal): Promise<number> {
  const events = file === '-' ? null : await checkedFile(file, signal);
  const { log: target, close } = await openTarget(readLogAddress(store));
  const progress = new Progress('imported', process.stderr);
  const decoder = new StoredEventDecoder();
  const check = new LogCheck(null, (event, texts) => decoder.faultOf(event, texts));
  let imported: ImportResult;
  try {
    const { report } = progress;
    imported = await importLog({ source: sourceOf(file, signal), target, check, events, report, signal });
  } catch (error) {
    throw withAdvice(error, 'To continue, run the same command again.');
  } finally {
    progress.end();
    await close();
  }
  const held = imported.held === 0 ? '' : `, ${imported.held} of which were there already`;
  printUnknownTypes(decoder);
  printMessage(`imported ${describeLog(check)}${held}`);
  return 0;
}

/** Checks the file before the import changes a store. @returns the number of the file's events */
async function checkedFile(file: string, signal: AbortSignal): Promise<number> {
  const progress = new Progress('verified', process.stderr);
  const decoder = new StoredEventDecoder();
  const check = new LogCheck(null, (event, texts) => decoder.faultOf(event, texts));
  try {
    const source = sourceOf(file, signal);
    return (await checkLogFile({ source, check, report: progress.report, signal })).events;
  } finally {
    progress.end();
  }
}

function sourceOf(file: string, signal: AbortSignal): LogFileSource {
  if (file === '-') return { name: 'standard input', open: () => addAbortSignal(signal, process.stdin) };
  return { name: file, open: () => createReadStream(file, { highWaterMark: 1024 * 1024 }) };
}
