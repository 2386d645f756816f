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

/** Long, because writing an archive of many days with much traffic takes time. */
const archiveTimeoutMs = 6 * 60 * 60 * 1000;

/**
 * @param before a day or a time
 * @returns the exit code
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
 * Prints a line for each archive, or one line if there are none.
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

/** @returns the exit code */
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

/** The help of `npm run events`. */
export const usageText = `Usage: npm run events -- <command>

  export <file>   writes the log to a file that does not exist yet; - is standard output
    --resume      continues an interrupted export
    --unverified  continues after a broken hash chain, and reports where it is; such a file cannot be imported
  import <file>   puts an exported log into a store; - is standard input
  verify          verifies the hash chain of every stream, names streams that lack events, and decodes every event
    --digests <folder>  and holds the log against the signed digests in a folder
    --key <file>        which this public key (PEM) must have signed; without it DIGEST_SIGNING_KEY and
                        DIGEST_OLD_PUBLIC_KEYS of the service
  skip-event <position>  lets every read model and process that cannot handle the event at this position skip it, now and
                  in rebuilds; something must have stopped at it
    --reason <text>     why; the audit shows it
  archive         moves the metering of past days (streams usage-...) from the log to compressed files in the blob store;
                  their sums stay in the log
    --before <time>     days that end at this time or earlier: 2026-01-06, or 2026-01-06T00:00:00Z
  archives        verifies all these files, and holds them against the sums in the log
  unarchive <day> <file>  writes the metering of a day as an exported log, which import takes into an empty store
  digest          signs a digest of the log now
    --after-restore     begins a new chain of digests, after the log was restored or moved
  digest-key      makes a private key for DIGEST_SIGNING_KEY, and prints it
    --public            prints the public half of DIGEST_SIGNING_KEY instead

  --store <url>   the event store: sqlite:<file> or esdb://...; without it EVENT_STORE_URL, or events.db in DATA_DIR

The file has a line for each event, as it is stored and in the order of the log, a first line that says what it is, and
a last one with the count and a hash, which are the same for the same log on any engine: a file that was cut off or
changed is known. Every event is verified on the way out and in, and decoded on the way in: one whose data is not what
its type has is refused with its line, stream, revision and place.

Export may run next to the service: it ends where the log ended when it began. Import is refused where a service runs on
the embedded store; nothing should write to an EventStoreDB meanwhile. The target must be empty, or hold the first
events of this file: these are compared and kept. So the same command resumes an interrupted import, and a newer export
of the same log adds the new events. A file is verified completely before anything is stored; from standard input each
event is verified before it is stored, and the whole at the end.

Read models and the checkpoints of processes are not moved: a service that is started on the moved log rebuilds its read
models, whatever its read store held, and its processes read every event again, which changes nothing. Personal data is
moved encrypted, as it is stored; its keys are not in the log. Copy them with npm run subject-keys.

With - for a file, use npm run --silent, because npm writes to standard output too.
`;
