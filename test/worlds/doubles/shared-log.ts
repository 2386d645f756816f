import * as E from 'fp-ts/lib/Either.js';
import { isShortenedOnPurpose } from '#domain/stream-kinds.ts';
import { sizedAppend } from '#event-store/append-limits.ts';
import { ChangeListener } from '#event-store/change-notifications.ts';
import {
  defaultMaxAppendBytes,
  type EventStore,
  type EventToAppend,
  maxPartCharacters,
  type StoredEvent,
  type StreamPart,
} from '#event-store/event-store.ts';
import type { LogPage, LogPageRequest, LogPages } from '#event-store/log-pages.ts';
import { asStored, LazyEvent, recordedEvent, type Upcast } from '#event-store/recorded-event.ts';
import type { StreamRemoval } from '#event-store/stream-removal.ts';
import type { RawEvent, RawLog } from '#event-store/transfer/raw-log.ts';
import { gapIn, UnreadableStreamError } from '#event-store/unreadable-stream.ts';
import { runInTurn } from '#exchange/turns.ts';
import { workForAll } from '#shared/async/fair-queue.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { LogServer, type Outcome } from './log-server.ts';

/** Maximum characters of a page; the last event may exceed them. */
const maxPageCharacters = 1024 * 1024;

/** The log that the nodes of a world share, as one of them has it open. */
export class SharedLog implements EventStore, LogPages, RawLog, StreamRemoval {
  readonly changes = new ChangeListener();
  readonly #log: LogServer;
  readonly #upcast: Upcast;
  readonly #stopListening: () => void;
  #isClosed = false;

  /** @param upcast brings data to its newest shape */
  constructor(log = new LogServer(), upcast: Upcast = asStored) {
    this.#log = log;
    this.#upcast = upcast;
    this.#stopListening = log.onStored((position) => this.changes.notify(position));
  }

  /** Opens the log for another node. */
  connect(): SharedLog {
    return new SharedLog(this.#log, this.#upcast);
  }

  /** The stored events, in order. */
  get log(): ReadonlyArray<LazyEvent> {
    return this.#log.log;
  }

  /** Returns the events of a stream that were not removed. */
  streamOf(stream: string): ReadonlyArray<LazyEvent> {
    return this.#log.streamOf(stream);
  }

  async append(
    stream: string,
    expectedRevision: number,
    events: ReadonlyArray<EventToAppend>,
    lastEventId?: string,
  ): Promise<Outcome> {
    const size = sizedAppend(expectedRevision, events, defaultMaxAppendBytes);
    if (E.isLeft(size)) return size;
    if (this.#isClosed) return E.left({ kind: 'unavailable', detail: 'The log is closed.', retryAfterSeconds: 1 });
    return this.#log.append(stream, expectedRevision, events, lastEventId);
  }

  async read(stream: string, fromRevision: number, limit = Number.MAX_SAFE_INTEGER): Promise<StreamPart> {
    this.#ensureOpen();
    return runInTurn(
      workForAll(),
      'log',
      () => this.#part(stream, fromRevision, limit),
      ({ characters }) => characters,
    );
  }

  async readPage({ after, maxEvents, types, exceptTypes = [] }: LogPageRequest): Promise<LogPage> {
    this.#ensureOpen();
    const events: LazyEvent[] = [];
    let characters = 0;
    for (const event of this.#log.after(after)) {
      if (!(types?.includes(event.type) ?? !exceptTypes.includes(event.type))) continue;
      if (events.length >= maxEvents || characters > maxPageCharacters)
        return { after, position: events.at(-1)?.position ?? after, events, characters, isEnd: false };
      events.push(new LazyEvent(event.stored, this.#upcast));
      characters += event.characters;
    }
    return { after, position: Math.max(after, this.#log.lastPosition), events, characters, isEnd: true };
  }

  async lastPosition(): Promise<number> {
    this.#ensureOpen();
    return this.#log.lastPosition;
  }

  async eventAt(position: number): Promise<string | null> {
    this.#ensureOpen();
    const [event] = this.#log.after(position - 1);
    return event?.position === position ? event.id : null;
  }

  async readRaw(stream: string, fromRevision: number, limit = Number.MAX_SAFE_INTEGER) {
    this.#ensureOpen();
    return this.#storedFrom(stream, fromRevision, limit).map(({ stored }): StoredEvent => stored);
  }

  async readRawLog(after: number, limit: number): Promise<ReadonlyArray<RawEvent>> {
    this.#ensureOpen();
    return this.#log
      .after(after)
      .slice(0, limit)
      .map(({ stored }) => stored);
  }

  async streamNames(prefix: string): Promise<ReadonlyArray<string>> {
    this.#ensureOpen();
    return this.#log.streams.filter((stream) => stream.startsWith(prefix));
  }

  async removeStream(stream: string, lastRevision: number): Promise<boolean> {
    this.#ensureOpen();
    if (this.#log.lastRevisionOf(stream) > lastRevision) return false;
    this.#log.removeBefore(stream, lastRevision + 1);
    await this.changes.notifyRemoval(stream);
    return true;
  }

  async ensureWritable(): Promise<void> {
    this.#ensureOpen();
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#stopListening();
    await this.changes.close();
  }

  #part(stream: string, fromRevision: number, limit: number): StreamPart {
    const events = [];
    let characters = 0;
    for (const { stored, characters: length } of this.#storedFrom(stream, fromRevision, limit)) {
      events.push(recordedEvent(stored, this.#upcast));
      characters += length;
      if (characters > maxPartCharacters) break;
    }
    return { events, characters, isEnd: events.length < limit && characters <= maxPartCharacters };
  }

  /** @throws UnreadableStreamError */
  #storedFrom(stream: string, fromRevision: number, limit: number): ReadonlyArray<LazyEvent> {
    const isAsked = ({ revision }: LazyEvent) => revision >= fromRevision && revision < fromRevision + limit;
    const events = this.#log.streamOf(stream).filter(isAsked);
    if (limit <= 0 || isShortenedOnPurpose(stream)) return events;
    const isHidden = events.length === 0 && this.#log.lastRevisionOf(stream) >= fromRevision;
    const hidden = { stream, expectedRevision: fromRevision, foundRevision: null };
    const revisions = events.map(({ revision }) => revision);
    const gap = isHidden ? hidden : gapIn(stream, fromRevision, revisions);
    if (gap !== null) throw new UnreadableStreamError(gap, 'something else has removed events');
    return events;
  }

  /** @throws UnavailableError */
  #ensureOpen(): void {
    if (this.#isClosed) throw new UnavailableError('The log is closed.');
  }
}
