import { openLog } from '#app/stores/open-log.ts';
import { verifyLog } from '#event-store/transfer/log-file/export-log.ts';
import { LogCheck } from '#event-store/transfer/log-file/log-check.ts';
import { Progress } from '#event-store/transfer/log-file/progress.ts';
import type { RawEvent } from '#event-store/transfer/raw-log.ts';
import { openDigestCheck } from './digests.ts';
import { type EventsArguments, readLogAddress } from './events-arguments.ts';
import { brokenLinks, describeLog, printMessage, printUnknownTypes } from './report.ts';
import { StoredEventDecoder } from './stored-event-decoder.ts';
import { verifyArchives } from './usage-archives.ts';

/** Verifies the log, and compares it with the digests of a folder. @returns the exit code */
export async function verifyEvents(
  { store, digests: folder, key }: EventsArguments,
  signal: AbortSignal,
): Promise<number> {
  const broken = brokenLinks();
  const digests =
    folder === undefined ? null : await openDigestCheck(folder, key, { fault: broken.found, note: printMessage });
  const { log, close } = await openLog(readLogAddress(store));
  const progress = new Progress('verified', process.stderr);
  const decoder = new StoredEventDecoder();
  const check = new LogCheck(broken.found, (event, texts) => decoder.faultOf(event, texts));
  const onVerified = (event: RawEvent) => digests?.add(event, check.heads);
  let held: string | null = null;
  try {
    await verifyLog({ log, check, report: progress.report, signal, onVerified });
    held = (await digests?.finish(check.heads)) ?? null;
  } finally {
    progress.end();
    await close();
  }
  printUnknownTypes(decoder);
  process.stdout.write(`verified ${describeLog(check)}\n`);
  if (held !== null) process.stdout.write(`held against ${held}\n`);
  return broken.report();
}

/** @returns the exit code */
export async function verifyUsageArchives({ store }: EventsArguments, signal: AbortSignal): Promise<number> {
  const broken = brokenLinks();
  await verifyArchives(readLogAddress(store), broken.found, signal);
  return broken.report();
}
