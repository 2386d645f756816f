import { openLog } from '#app/stores/open-log.ts';
import { exportLog, type LineSink } from '#event-store/transfer/log-file/export-log.ts';
import { streamSink } from '#event-store/transfer/log-file/line-stream.ts';
import { LogCheck } from '#event-store/transfer/log-file/log-check.ts';
import { PartFile } from '#event-store/transfer/log-file/part-file.ts';
import { Progress } from '#event-store/transfer/log-file/progress.ts';
import { type EventsArguments, readLogAddress } from './events-arguments.ts';
import { brokenLinks, describeLog, printMessage, withAdvice } from './report.ts';

/** @returns the exit code */
export async function exportEvents({ file, flags, store }: EventsArguments, signal: AbortSignal): Promise<number> {
  const { log, kind, close } = await openLog(readLogAddress(store));
  const progress = new Progress('exported', process.stderr);
  const broken = flags.unverified ? brokenLinks() : null;
  const check = new LogCheck(broken?.found ?? null);
  const run = (sink: LineSink) => exportLog({ log, from: kind, sink, check, report: progress.report, signal });
  try {
    if (file === '-') await run(streamSink(process.stdout));
    else await toFile(file, flags.resume, run);
  } finally {
    progress.end();
    await close();
  }
  printMessage(`exported ${describeLog(check)}`);
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
