import type { BlobStore } from '#blob-store/blob-store.ts';
import type { EventStore } from '#event-store/event-store.ts';
import { dayOfArchive, verifyArchive } from './archive-file.ts';
import { readClosedDay } from './closed-day.ts';
import { UsageArchiveError } from './day-closing.ts';
import { archiveLine, emptyHash, hashAfter, lineHashOf } from './stream-count.ts';

export interface ArchiveFindings {
  readonly sound: (id: string, events: number, sha256: string) => void;
  readonly fault: (text: string) => void;
}

interface Segment {
  readonly firstRevision: number;
  /** The hashes of its events' lines, in order. */
  readonly lineHashes: string[];
}

type Segments = Map<string, Segment[]>;

export interface ArchiveCheckOptions {
  readonly blobs: Pick<BlobStore, 'get'>;
  /** The log, whose chained closings define the contents of the archives. */
  readonly events: Pick<EventStore, 'read'>;
  readonly findings: ArchiveFindings;
  readonly signal: AbortSignal;
}

/**
 * Compares the archives with the counts of the day's closings, too.
 * @param ids of all archives of the day
 * @throws UnavailableError; UnreadableEventError; the signal's reason
 */
export async function checkArchives(
  day: string,
  ids: ReadonlyArray<string>,
  { blobs, events, findings, signal }: ArchiveCheckOptions,
): Promise<void> {
  const segments: Segments = new Map();
  let damaged = 0;
  for (const id of ids.toSorted()) {
    try {
      const found = await verifyArchive(id, blobs, signal, segmentsInto(segments));
      findings.sound(id, found.events, found.sha256);
    } catch (error) {
      if (!(error instanceof UsageArchiveError)) throw error;
      damaged += 1;
      findings.fault(error.message);
    }
  }
  // If an archive is damaged, the comparison would only report further faults.
  if (damaged === 0) await compareWithClosings(day, segments, events, findings);
}

/** From the ids of a blob store, by day, in order. */
export function archivesByDay(ids: ReadonlyArray<string>): ReadonlyArray<[day: string, ids: ReadonlyArray<string>]> {
  const byDay = Map.groupBy(ids, (id) => dayOfArchive(id) ?? '');
  byDay.delete('');
  return [...byDay].sort(([one], [other]) => (one < other ? -1 : 1));
}

/** Adds the events of one archive, stream after stream. */
function segmentsInto(segments: Segments) {
  let current: { readonly stream: string; readonly segment: Segment } | null = null;
  return (event: Parameters<typeof archiveLine>[0]) => {
    if (current?.stream !== event.stream) {
      const segment: Segment = { firstRevision: event.revision, lineHashes: [] };
      current = { stream: event.stream, segment };
      segments.set(event.stream, [...(segments.get(event.stream) ?? []), segment]);
    }
    current.segment.lineHashes.push(lineHashOf(archiveLine(event)));
  };
}

async function compareWithClosings(
  day: string,
  segments: Segments,
  events: Pick<EventStore, 'read'>,
  { fault }: ArchiveFindings,
): Promise<void> {
  const { streams } = await readClosedDay(events, day);
  for (const [stream, parts] of segments) {
    const closed = streams.get(stream);
    const lineHashes = parts
      .toSorted((one, other) => one.firstRevision - other.firstRevision)
      .flatMap((part) => part.lineHashes);
    if (closed === undefined) fault(`${stream} is in an archive, and no closing of ${day} has counted it`);
    // Events that are not archived yet are still in the log.
    else if (lineHashes.length >= closed.events && lineHashes.reduce(hashAfter, emptyHash) !== closed.hash)
      fault(`the archives of ${stream} do not hold the ${closed.events} events that ${day} was closed with`);
  }
}
