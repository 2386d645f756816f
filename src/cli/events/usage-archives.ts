import { readConfig } from '#app/config.ts';
import type { EventStoreConfig } from '#app/store-config.ts';
import type { BlobStore } from '#blob-store/blob-store.ts';
import { dayOrTime } from '#cli/shared/command-line.ts';
import { openLocalService } from '#cli/shared/local-service.ts';
import { openBlobsBeside } from '#cli/stores/blobs-beside.ts';
import { openStreams } from '#cli/stores/event-logs.ts';
import { InterruptedError, LogError } from '#event-store/transfer/log-failure.ts';
import type { LineSink } from '#event-store/transfer/log-file/export-log.ts';
import { streamSink } from '#event-store/transfer/log-file/line-stream.ts';
import { LogCheck } from '#event-store/transfer/log-file/log-check.ts';
import { firstLine, lastLine, readLogFile } from '#event-store/transfer/log-file/log-file.ts';
import { PartFile } from '#event-store/transfer/log-file/part-file.ts';
import { StartupError } from '#shared/errors/startup-error.ts';
import { archivesByDay, checkArchives } from '#usage/archive/archive-check.ts';
import { archivePrefix, archiveSource, verifyArchive } from '#usage/archive/archive-file.ts';
import type { EventsArguments } from './events-arguments.ts';
import { printMessage } from './report.ts';

/** Writing an archive of many days with much traffic takes long. */
const archiveTimeoutMs = 6 * 60 * 60 * 1000;

/**
 * Requests an archive of the metering of past days from the service.
 * @param before a day or a time
 * @returns the exit code;
 * @throws StartupError if it refuses
 */
export async function archiveUsage(before: string): Promise<number> {
  const service = await openLocalService(archiveTimeoutMs);
  try {
    const { status, body } = await service.call('POST', '/v1/usage/archives', { before: dayOrTime(before) });
    if (status >= 300) throw new StartupError(reasonOf(body));
    for (const { day, streams, events, bytes } of body.days)
      process.stdout.write(`archived ${day}: ${events} events of ${streams} streams, ${bytes} bytes\n`);
    if (body.days.length === 0) process.stdout.write('nothing is left to archive\n');
    return 0;
  } finally {
    await service.close();
  }
}

function reasonOf({ detail, errors }: { detail: string; errors?: ReadonlyArray<{ message: string }> }): string {
  return errors === undefined ? detail : `--before ${errors.map(({ message }) => message).join('; ')}`;
}

/**
 * Verifies all archives and prints a line for each, or one line if there are none.
 * @param store the event store whose closings describe the archives
 * @param fault receives each mismatch
 * @throws StartupError; UnavailableError; the signal's reason
 */
export async function verifyArchives(
  store: EventStoreConfig,
  fault: (text: string) => void,
  signal: AbortSignal,
): Promise<void> {
  await using opened = new AsyncDisposableStack();
  const blobs = await openBlobs(opened);
  const { streams: events, close } = await openStreams(store);
  opened.defer(close);
  const sound = (id: string, count: number, sha256: string) => {
    process.stdout.write(`${id}: ${count} events, SHA-256 ${sha256}\n`);
  };
  const archives = await idsOf(blobs, archivePrefix());
  if (archives.length === 0) process.stdout.write('there are no archives\n');
  for (const [day, ids] of archivesByDay(archives))
    await checkArchives(day, ids, { blobs, events, findings: { sound, fault }, signal });
}

/**
 * Writes the metering of a day from its archives to a log file.
 * @returns the number of events
 * @throws LogError if there is no archive of the day; UsageArchiveError; UnavailableError; InterruptedError
 */
export async function unarchive(day: string, sink: LineSink, signal: AbortSignal): Promise<number> {
  await using opened = new AsyncDisposableStack();
  const blobs = await openBlobs(opened);
  const ids = await idsOf(blobs, archivePrefix(day));
  if (ids.length === 0) throw new LogError(`There is no archive of ${day}.`);
  // Each archive is verified before its first line is written.
  for (const id of ids) await verifyArchive(id, blobs, signal);
  const check = new LogCheck();
  await sink.write(firstLine('metering', new Date()));
  for (const id of ids) {
    const source = await archiveSource(id, blobs);
    for await (const events of readLogFile(source.open(), id)) {
      if (signal.aborted) throw new InterruptedError();
      for (const { event, line } of events) check.add(event, line);
      await sink.write(events.map(({ line }) => line.toString()).join(''));
    }
  }
  await sink.write(lastLine(check.summary()));
  return check.events;
}

async function openBlobs(opened: AsyncDisposableStack): Promise<BlobStore> {
  const { DATA_DIR, READ_STORE_URL, BLOB_STORE_URL } = process.env;
  const blobs = await openBlobsBeside(readConfig({ DATA_DIR, READ_STORE_URL, BLOB_STORE_URL }).blobStore);
  opened.defer(() => blobs.close());
  return blobs;
}

async function idsOf(blobs: BlobStore, prefix: string): Promise<ReadonlyArray<string>> {
  const ids: string[] = [];
  for await (const { id } of blobs.list(prefix)) ids.push(id);
  return ids.sort();
}

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
