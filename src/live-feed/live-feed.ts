import { auditEntries, type EntryReads } from '#application/history/audit-entries.ts';
import { listedTypes } from '#domain/histories.ts';
import type { Caller } from '#domain/shared/access.ts';
import { type Failure, failure } from '#domain/shared/failure.ts';
import type { EventBatch, EventStore, RecordedEvent } from '#event-store/event-store.ts';
import type { Following, LogTail } from '#event-store/log-tail.ts';
import { UnreadableEventError } from '#event-store/recorded-event.ts';
import { UnreadableStreamError } from '#event-store/unreadable-stream.ts';
import type { Admission } from '#exchange/admission.ts';
import type { Client } from '#exchange/client.ts';
import { currentHeld } from '#exchange/held.ts';
import { type FairPlaces, runFor, serviceOwner } from '#shared/async/fair-queue.ts';
import { clock, type Timer } from '#shared/clock.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import type { Logger } from '#shared/logging/logger.ts';
import { type AudienceGroup, Audiences } from './audiences.ts';
import { entryMessage, FeedReader, keepAlive } from './feed-reader.ts';
import type { PastEntries } from './past-entries.ts';

export interface LiveFeedOptions {
  readonly tail: Pick<LogTail, 'follow'>;
  readonly store: Pick<EventStore, 'lastPosition'>;
  readonly reads: EntryReads;
  readonly past: PastEntries;
  readonly admission: Pick<Admission, 'rooms'>;
  readonly log: Logger;
  /** The time between comments that show that a feed is alive. Default 15 s. */
  readonly keepAliveMs?: number;
  /** The time between two checks of the keys of open feeds. Default 500 ms. */
  readonly keyCheckMs?: number;
  /** How long a client may stop reading. Default 30 s. */
  readonly maxUnreadMs?: number;
}

export interface FeedRequest {
  readonly caller: Caller;
  readonly response: Client;
  /** The position after which to begin; null to begin with the next event. */
  readonly after: number | null;
  readonly isKeyValid: () => Promise<boolean>;
}

/** The one follower of the log that all open feeds share. Its position is that up to which events were sent. */
interface Follower extends Pick<Following, 'position'> {
  readonly stopped: AbortController;
}

const eventsOfBatch = 200;
/** A reader with fewer missing entries than this joins the live readers. */
const joinBelow = 100;

/**
 * Sends each event that histories list to the readers that may see it, when it is stored. All feeds of a node share one
 * follower of the log, which runs while there is a feed. Each entry is made once for all its readers.
 */
export class LiveFeed {
  readonly #options: LiveFeedOptions;
  readonly #readers = new Set<FeedReader>();
  readonly #audiences = new Audiences<FeedReader>();
  readonly #replaying = new Set<FeedReader>();
  #follower: Promise<Follower> | null = null;
  #timers: ReadonlyArray<Timer> = [];
  #sentUpTo = 0;
  #hasStopped = false;

  constructor(options: LiveFeedOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#readers.size;
  }

  /**
   * Returns when the feed has ended.
   * @returns why it was refused, before anything was written; null if it was served
   * @throws UnavailableError before anything was written
   */
  async serve({ caller, response, after, isKeyValid }: FeedRequest): Promise<Failure | null> {
    const refusal = this.#takePlace(caller);
    if (refusal !== null) return refusal;
    const held = currentHeld();
    const place = held.add(() => this.#places.giveBack(caller.projectId));
    const kept = held.keep('feed', place);
    const { maxUnreadMs } = this.#options;
    const reader = new FeedReader({ caller, response, isKeyValid, ...(maxUnreadMs !== undefined && { maxUnreadMs }) });
    this.#readers.add(reader);
    // All readers share what begins with the first one.
    runFor(serviceOwner, () => this.#startTimers());
    try {
      const follower = await this.#follow();
      if (after !== null) await Promise.race([this.#options.past.reach(follower.position), reader.ended]);
      reader.start();
      if (after === null) this.#audiences.add(caller, reader);
      else await this.#replay(reader, follower, after);
      await reader.ended;
      return null;
    } finally {
      kept.release();
      await this.#remove(reader);
    }
  }

  /** Ends all feeds, and accepts no more. */
  stop(): void {
    this.#hasStopped = true;
    for (const reader of this.#readers) reader.end('stopping');
  }

  get #places(): FairPlaces {
    return this.#options.admission.rooms['live feed'];
  }

  #takePlace({ projectId }: Caller): Failure | null {
    const places = this.#places;
    if (this.#hasStopped) throw new UnavailableError('This node stops.');
    if (places.take(projectId)) return null;
    if (places.hasAll(projectId)) {
      const detail = `The keys of a project have ${places.limits.maxPlacesOfOwner} live feeds at most: close one.`;
      return failure('too-many-feeds', detail, later);
    }
    return failure('feeds-full', 'This node has no room for more live feeds of this project.', later);
  }

  #startTimers(): void {
    const { keepAliveMs = 15_000, keyCheckMs = 500 } = this.#options;
    if (this.#timers.length > 0) return;
    this.#timers = [
      clock.setInterval(() => void this.#keepAlive(), keepAliveMs).unref(),
      clock.setInterval(() => this.#checkKeys(), keyCheckMs).unref(),
    ];
  }

  async #remove(reader: FeedReader): Promise<void> {
    reader.end('left');
    this.#audiences.delete(reader.caller, reader);
    this.#readers.delete(reader);
    if (this.size > 0) return;
    for (const timer of this.#timers) clock.clearInterval(timer);
    this.#timers = [];
    const follower = this.#follower;
    this.#follower = null;
    (await follower?.catch(() => null))?.stopped.abort();
  }

  /** Sends past entries in parts until few are missing. Then the reader joins the live readers. */
  async #replay(reader: FeedReader, follower: Follower, after: number): Promise<void> {
    const { past } = this.#options;
    let sent = after;
    this.#replaying.add(reader);
    try {
      for (let entries = joinBelow; entries >= joinBelow && !reader.hasEnded; ) {
        const until = follower.position;
        entries = await past.send(reader, sent, until);
        sent = Math.max(sent, until);
      }
      if (reader.hasEnded) return;
      reader.hold();
      this.#audiences.add(reader.caller, reader);
      await past.send(reader, sent, follower.position);
      reader.release();
    } catch (error) {
      // The head of the response is sent, so the feed ends. The reader resumes after its last entry.
      if (!(error instanceof UnavailableError)) throw error;
      reader.end('unavailable');
    } finally {
      this.#replaying.delete(reader);
    }
  }

  /** Starts the follower for the first reader, and shares it. @throws UnavailableError */
  #follow(): Promise<Follower> {
    const start = () => this.#startFollower();
    this.#follower ??= runFor(serviceOwner, start).catch((error: unknown) => {
      this.#follower = null;
      throw error;
    });
    return this.#follower;
  }

  async #startFollower(): Promise<Follower> {
    const { store, tail } = this.#options;
    const after = await store.lastPosition();
    const stopped = new AbortController();
    const following = tail.follow({
      name: 'The live feed',
      types: listedTypes,
      maxEvents: eventsOfBatch,
      after,
      handle: (batch) => this.#send(batch),
      signal: stopped.signal,
    });
    const sentUpTo = () => Math.max(after, this.#sentUpTo, following.position);
    return {
      stopped,
      get position() {
        return sentUpTo();
      },
    };
  }

  async #send({ events, position }: EventBatch): Promise<void> {
    const messages = new Map<number, string>();
    const lacksMessage = (event: RecordedEvent) =>
      !messages.has(event.position) && this.#audiences.shown(event).length > 0;
    // A reader may join while entries are made, so its entries are made too.
    for (let missing = events.filter(lacksMessage); missing.length > 0; missing = events.filter(lacksMessage)) {
      const entries = await this.#entriesOf(missing);
      for (const event of missing) messages.set(event.position, '');
      for (const entry of entries) messages.set(entry.position, entryMessage(entry));
    }
    if (messages.size > 0) this.#push(events, messages);
    // A reader that joins now reads the past up to here, so this is set together with the push.
    this.#sentUpTo = position;
  }

  /** Sends events, so that each group gets its messages in one piece. */
  #push(events: ReadonlyArray<RecordedEvent>, messages: ReadonlyMap<number, string>): void {
    const texts = new Map<AudienceGroup<FeedReader>, string>();
    for (const event of events) {
      const message = messages.get(event.position) ?? '';
      if (message === '') continue;
      for (const group of this.#audiences.shown(event)) texts.set(group, (texts.get(group) ?? '') + message);
    }
    for (const [group, text] of texts) {
      const bytes = Buffer.from(text);
      for (const reader of group) reader.push(bytes);
    }
  }

  /** Makes the entries. Events of a stream that cannot be read are left out. */
  async #entriesOf(events: ReadonlyArray<RecordedEvent>) {
    const { reads, log } = this.#options;
    const ofStreams = [...Map.groupBy(events, ({ stream }) => stream)].map(async ([stream, places]) => {
      try {
        return await auditEntries(reads, places);
      } catch (error) {
        if (!(error instanceof UnreadableEventError || error instanceof UnreadableStreamError)) throw error;
        log.warn({ stream, reason: error.message }, 'live feeds leave out events of a stream that cannot be read');
        return [];
      }
    });
    return (await Promise.all(ofStreams)).flat();
  }

  async #keepAlive(): Promise<void> {
    const follower = await this.#follower?.catch(() => null);
    if (!follower) return;
    const bytes = keepAlive(follower.position);
    for (const group of this.#audiences.all()) for (const reader of group) reader.push(bytes);
    for (const reader of this.#replaying) reader.comment();
  }

  #checkKeys(): void {
    for (const reader of this.#readers) void reader.checkKey();
  }
}

const later = { retryAfterSeconds: 5 };
