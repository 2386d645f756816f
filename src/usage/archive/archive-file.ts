import { hash } from 'node:crypto';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import type { BlobStore } from '#blob-store/blob-store.ts';
import type { StoredEvent } from '#event-store/event-store.ts';
import type { StreamRemoval } from '#event-store/stream-removal.ts';
import { checkLogFile, type LogFileSource } from '#event-store/transfer/log-file/import-log.ts';
import { LogCheck } from '#event-store/transfer/log-file/log-check.ts';
import { firstLine, lastLine } from '#event-store/transfer/log-file/log-file.ts';
import { type CountedStream, UsageArchiveError } from './day-closing.ts';
import { storedEventsOf } from './metering-stream.ts';
import { archiveLine } from './stream-count.ts';

// An archive is a log file (`transfer/log-file`) of metering streams of one day, one stream after the other, compressed
// by gzip: `events import` takes it.

const idPattern = /^usage-archive-(\d{4}-\d{2}-\d{2})-[0-9a-f]{16}$/;

/** The beginning of ids in the blob store. @param day without it, the prefix of all days */
export function archivePrefix(day?: string): string {
  return day === undefined ? 'usage-archive-' : `usage-archive-${day}-`;
}

/** The day; null for an id that is not of an archive. */
export function dayOfArchive(id: string): string | null {
  return idPattern.exec(id)?.[1] ?? null;
}

/** An id that derives from the contents, so that a repeated write replaces only an equal archive. */
export function archiveId(day: string, streams: ReadonlyArray<CountedStream>): string {
  const held = streams.map(({ stream, firstEvent, lastEvent, events }) => [stream, firstEvent, lastEvent, events]);
  return `${archivePrefix(day)}${hash('sha256', JSON.stringify(held)).slice(0, 16)}`;
}

export interface VerifiedArchive {
  readonly events: number;
  readonly sha256: string;
  /** The last event of each stream, without its texts. */
  readonly lastEvents: ReadonlyArray<StoredEvent>;
}

export interface ArchiveWriterOptions {
  readonly events: Pick<StreamRemoval, 'readRaw'>;
  readonly blobs: Pick<BlobStore, 'get' | 'put'>;
  readonly now: () => Date;
}

/**
 * Reads the written archive again. @returns its bytes
 * @throws UsageArchiveError if the streams lack the expected events, or if the archive differs from what was written:
 *   nothing is stored in the first case; UnavailableError; the signal's reason
 */
export async function writeArchive(
  id: string,
  streams: ReadonlyArray<CountedStream>,
  { events, blobs, now }: ArchiveWriterOptions,
  signal: AbortSignal,
): Promise<number> {
  const written = new LogCheck();
  async function* lines() {
    yield firstLine('metering', now());
    for (const stream of streams) yield* linesOf(stream, events, written, signal);
    yield lastLine(written.summary());
  }
  const bytes = await blobs.put(id, compressed(lines()), Number.MAX_SAFE_INTEGER);
  const { sha256, events: count } = await verifyArchive(id, blobs, signal);
  const expected = written.summary();
  if (sha256 === expected.sha256 && count === expected.events) return bytes;
  throw new UsageArchiveError(`The archive ${id} is not what was written: nothing is removed from the log.`);
}

async function* linesOf(
  { stream, firstRevision, lastRevision, lastEvent, events: expected }: CountedStream,
  events: Pick<StreamRemoval, 'readRaw'>,
  written: LogCheck,
  signal: AbortSignal,
): AsyncGenerator<string, void, void> {
  let found = 0;
  let last: StoredEvent | null = null;
  for await (const event of storedEventsOf(events, stream, firstRevision, signal)) {
    if (event.revision > lastRevision) break;
    const line = archiveLine(event);
    written.add(event, line);
    yield line;
    found += 1;
    last = event;
  }
  if (found !== expected || last?.id !== lastEvent)
    throw new UsageArchiveError(`${stream} changed while it was archived: something else archives it, too.`);
}

/** An error in a line also fails the compressed stream. */
function compressed(lines: AsyncIterable<string>): AsyncIterable<Uint8Array> {
  const gzip = createGzip();
  pipeline(Readable.from(lines), gzip).catch(() => undefined);
  return gzip;
}

/** @throws UsageArchiveError if it is damaged or missing; UnavailableError; the signal's reason */
export async function verifyArchive(
  id: string,
  blobs: Pick<BlobStore, 'get'>,
  signal: AbortSignal,
  onEvent: (event: StoredEvent) => void = () => undefined,
): Promise<VerifiedArchive> {
  const lastEvents = new Map<string, StoredEvent>();
  const check = new LogCheck(null, (event) => {
    lastEvents.set(event.stream, { ...event, data: '', metadata: '' });
    onEvent(event);
    return null;
  });
  try {
    const source = await archiveSource(id, blobs);
    return {
      ...(await checkLogFile({ source, check, report: () => undefined, signal })),
      lastEvents: [...lastEvents.values()],
    };
  } catch (error) {
    if (error instanceof Error && (error.name === 'LogError' || 'code' in error))
      throw new UsageArchiveError(`The archive ${id} is damaged: ${error.message}`, { cause: error });
    throw error;
  }
}

/** @throws UsageArchiveError if it is missing; UnavailableError */
export async function archiveSource(id: string, blobs: Pick<BlobStore, 'get'>): Promise<LogFileSource> {
  const content = await blobs.get(id);
  if (content === null) throw new UsageArchiveError(`There is no archive ${id}.`);
  return { name: id, open: () => unpacked(content) };
}

async function* unpacked(content: Readable): AsyncGenerator<Uint8Array, void, void> {
  const gunzip = createGunzip();
  const unpacking = pipeline(content, gunzip);
  // A reader that stops early ignores later failures.
  unpacking.catch(() => undefined);
  try {
    yield* gunzip;
    await unpacking;
  } finally {
    gunzip.destroy();
    content.destroy();
  }
}
