import { randomUUID } from 'node:crypto';
import * as E from 'fp-ts/lib/Either.js';
import { type EventStore, noStream, type StoredEvent } from '#event-store/event-store.ts';
import { parseTexts } from '#event-store/recorded-event.ts';
import { UnreadableStreamError } from '#event-store/unreadable-stream.ts';
import { PermanentlyUnavailableError, UnavailableError } from '#shared/errors/unavailable-error.ts';
import { olderDataError } from '#shared/stored-format.ts';
import { ensureKnownFormat, ownFormat } from './stored-format.ts';

/** A log on a server, where other tools and releases may open it without the database of its read models. */
export interface ServerLog extends Pick<EventStore, 'append' | 'lastPosition'> {
  readonly readRaw: (stream: string, fromRevision: number) => Promise<ReadonlyArray<StoredEvent>>;
  readonly ensureWritable: () => Promise<void>;
}

/** No kind of stream has this name, so neither followers of the log nor exports see it. */
const stream = 'stored-format';
const type = 'StoredFormatRaised';
const maxAttempts = 20;
const where = 'The log of EVENT_STORE_URL';

/**
 * Release 0.4.0 and older ones stored no number, and a new log has none.
 * @throws StartupError if a newer or an older release has written the log; UnavailableError
 */
export async function checkLogFormat(log: Pick<ServerLog, 'readRaw' | 'lastPosition'>): Promise<void> {
  await readFormat(log);
}

/**
 * Called before the release appends anything else there. A user who may not append raises no number, and begins no log.
 * @throws StartupError if a newer or an older release has written the log; UnavailableError
 */
export async function recordLogFormat(log: ServerLog): Promise<void> {
  for (let attempts = 0; attempts < maxAttempts; attempts += 1) {
    const { format, revision } = await readFormat(log);
    if (format === ownFormat.format || !(await isWritable(log, format === null))) return;
    const raised = { id: randomUUID(), type, data: JSON.stringify(ownFormat), metadata: '{"schemaVersion":1}' };
    const stored = await log.append(stream, revision, [raised]);
    if (E.isRight(stored)) return;
    // After a conflict another node has recorded a format meanwhile.
    if (stored.left.kind === 'unavailable') throw new UnavailableError(stored.left.detail);
  }
  throw new UnavailableError(`${where} does not take the number of its format: other nodes write theirs.`);
}

async function readFormat(
  log: Pick<ServerLog, 'readRaw' | 'lastPosition'>,
): Promise<{ format: number | null; revision: number }> {
  // Before the number, because another node that begins the log stores its number before any event.
  const hasEvents = (await log.lastPosition()) > 0;
  const events = await log.readRaw(stream, 0).catch((error: unknown) => {
    // Someone has shortened the stream on the server: what it said is not known any more.
    if (error instanceof UnreadableStreamError) return null;
    throw error;
  });
  if (events === null) return { format: ownFormat.format, revision: noStream };
  const newest = events.at(-1);
  if (newest !== undefined)
    return { format: ensureKnownFormat(parseTexts(newest).data ?? newest.data, where), revision: newest.revision };
  if (hasEvents) throw olderDataError(where, '0.4.0 or an older release');
  return { format: null, revision: noStream };
}

async function isWritable(log: ServerLog, isNew: boolean): Promise<boolean> {
  try {
    await log.ensureWritable();
    return true;
  } catch (error) {
    // The right may come later. In a new log the first events would then have no number before them.
    if (error instanceof PermanentlyUnavailableError && !isNew) return false;
    throw error;
  }
}
