import { streamSink } from '#event-store/transfer/log-file/line-stream.ts';
import { PartFile } from '#event-store/transfer/log-file/part-file.ts';
import type { EventsArguments } from './events-arguments.ts';
import { printMessage } from './report.ts';
import { unarchive } from './usage-archives.ts';

/** Writes the metering of an archived day to a file. @returns the exit code */
export async function unarchiveTo({ day, file }: EventsArguments, signal: AbortSignal): Promise<number> {
  const part = file === '-' ? null : await PartFile.open(file, false);
  try {
    const events = await unarchive(day, part ?? streamSink(process.stdout), signal);
    await part?.finish();
    printMessage(`wrote ${events} events of ${day}`);
    return 0;
  } catch (error) {
    await part?.discard();
    throw error;
  }
}
