import { readConfig } from '#app/config.ts';
import { openLog } from '#app/stores/open-log.ts';
import { BlobSweep } from '#application/files/blob-sweep.ts';
import type { Orphan } from '#application/files/orphan-search.ts';
import { runTool } from '#cli/shared/command-line.ts';
import { InterruptedError, LogError } from '#event-store/transfer/log-failure.ts';
import { Progress, type Report } from '#event-store/transfer/log-file/progress.ts';
import { StartupError } from '#shared/errors/startup-error.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { unknownWord } from './shared/command-line.ts';
import { openBlobsBeside } from './stores/blobs-beside.ts';

const usage = `Usage: npm run blobs -- sweep

  sweep       lists the orphaned contents of files and parts of batches: no event of the log has ever named them, or a
              later event released them because the file was deleted or has expired, or the batch has ended
    --delete  removes them, too
    --force   removes them although no event of this log names any of the stored contents

It checks only what was stored more than 24 hours ago. The service may run meanwhile. Run the tool with the service's own
variables (DATA_DIR, EVENT_STORE_URL, EVENT_STORE_STREAM_PREFIX, READ_STORE_URL, BLOB_STORE_URL): compared with another
log, every content would seem to be orphaned.
`;

const flags = ['--delete', '--force'];

const interrupted = new AbortController();
// A second one ends the process immediately.
process.once('SIGINT', () => interrupted.abort());
process.once('SIGTERM', () => interrupted.abort());

await runTool('blobs', usage, run, UnavailableError, LogError, InterruptedError);

async function run([command, ...words]: ReadonlyArray<string>): Promise<number | null> {
  if (command !== undefined && command !== 'sweep') throw unknownWord('blobs', command, ['sweep']);
  const unknown = words.find((word) => !flags.includes(word));
  if (unknown !== undefined) throw unknownWord('blobs', unknown, flags);
  if (command === undefined) return null;
  await using opened = new AsyncDisposableStack();
  const sweep = await find(opened);
  if (words.includes('--delete')) await remove(sweep, words.includes('--force'));
  else list(sweep);
  return 0;
}

async function find(opened: AsyncDisposableStack): Promise<BlobSweep> {
  const { DATA_DIR, EVENT_STORE_URL, EVENT_STORE_STREAM_PREFIX, READ_STORE_URL, BLOB_STORE_URL } = process.env;
  const named = { DATA_DIR, EVENT_STORE_URL, EVENT_STORE_STREAM_PREFIX, READ_STORE_URL, BLOB_STORE_URL };
  const { eventStore, blobStore } = readConfig(named);
  const { log, close } = await openLog(eventStore);
  opened.defer(close);
  const blobs = await openBlobsBeside(blobStore);
  opened.defer(() => blobs.close());
  const options = { blobs, eventLog: log, now: () => new Date(), signal: interrupted.signal };
  return shown('listed', 'contents', (listed) =>
    shown('read', 'events', (read) => BlobSweep.find(options, listed, read)),
  );
}

function list(sweep: BlobSweep): void {
  const orphans = sweep.orphans();
  for (const orphan of orphans) process.stdout.write(`${lineOf(orphan)}\n`);
  const advice = orphans.length === 0 ? '' : '; to remove them, add --delete';
  process.stdout.write(`found ${summaryOf(sweep, orphans)}${advice}\n`);
}

async function remove(sweep: BlobSweep, isForced: boolean): Promise<void> {
  const { old, named } = sweep.judged;
  if (old > 0 && named === 0 && !isForced) throw new StartupError(otherLog(old));
  const removed: Orphan[] = [];
  for await (const orphan of sweep.remove()) {
    removed.push(orphan);
    process.stdout.write(`removed ${lineOf(orphan)}\n`);
  }
  process.stdout.write(`removed ${summaryOf(sweep, removed)}\n`);
}

function otherLog(old: number): string {
  return `no event of this log names any of the ${old} contents that are there: it is most likely another service's. Nothing was removed. If EVENT_STORE_URL and BLOB_STORE_URL are right, add --force.`;
}

async function shown<Result>(verb: string, things: string, work: (report: Report) => Promise<Result>): Promise<Result> {
  const progress = new Progress(verb, process.stderr, { things });
  try {
    return await work(progress.report);
  } finally {
    progress.end();
  }
}

function lineOf({ id, bytes, storedAt, reason }: Orphan): string {
  return `${id} ${reason}, ${bytes} bytes, stored ${storedAt.toISOString()}`;
}

function summaryOf(sweep: BlobSweep, orphans: ReadonlyArray<Orphan>): string {
  const bytes = orphans.reduce((sum, orphan) => sum + orphan.bytes, 0);
  return `${orphans.length} orphaned of ${sweep.judged.old} contents older than 24 hours, ${bytes} bytes`;
}
