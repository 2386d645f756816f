import { setImmediate as nextTurn } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { emptyStream, foldStream, type StreamState } from '#application/commands/stream-state.ts';
import type { SnapshotStore } from '#application/snapshots/snapshot-store.ts';
import { StreamSnapshots } from '#application/snapshots/stream-snapshots.ts';
import { type Entity, streamName } from '#domain/shared/entity.ts';
import { type EventStore, noStream, type RecordedEvent } from '#event-store/event-store.ts';
import { UnreadableEventError } from '#event-store/unreadable-event-error.ts';

export interface StreamLoaderOptions {
  readonly store: Pick<EventStore, 'read'>;
  /**
   * Every append to the store comes through this process, as on the embedded store: what is cached is current, and a
   * stream is read once. Default false.
   */
  readonly soleWriter?: boolean;
  /** Where snapshots of long streams are kept; without it such a stream is read from its beginning. */
  readonly snapshots?: SnapshotStore;
  /** Of the cache of states; default 64 MiB. */
  readonly cacheBytes?: number;
}

const defaultCacheBytes = 64 * 1024 * 1024;
/** Events of a stream read at a time at most. */
const eventsRead = 100;
/** Roughly what a state takes: no text of a client's is in it, and what there may be many of weighs itself. */
const bytesOfState = ({ stream, weight }: CachedState) => 1024 + 512 * stream.remembered.held + weight;
/** Streams of which it is not known what was stored last, at most, and how long that is minded. */
const maxStreamsWithUnknownOutcome = 10_000;
const unknownOutcomeMs = 10 * 60 * 1000;

interface CachedState {
  readonly stream: StreamState<unknown>;
  readonly weight: number;
  // biome-ignore lint/suspicious/noExplicitAny: the stream's category names its entity.
  readonly entity: Entity<any, any>;
}

/** Loads the states of streams, and keeps those that were used last. */
export class StreamLoader {
  readonly #store: Pick<EventStore, 'read'>;
  readonly #states: LRUCache<string, CachedState>;
  /** Streams with an append that was abandoned and may still be stored: they are read again each time. */
  readonly #unsure = new LRUCache<string, true>({ max: maxStreamsWithUnknownOutcome, ttl: unknownOutcomeMs });
  /** The first read of each stream that is not cached; concurrent callers share it. */
  readonly #firstReadings = new Map<string, Promise<StreamState<unknown>>>();
  readonly #snapshots: StreamSnapshots | null;
  readonly #soleWriter: boolean;

  constructor({ store, soleWriter, snapshots, cacheBytes }: StreamLoaderOptions) {
    this.#store = store;
    this.#soleWriter = soleWriter ?? false;
    this.#states = new LRUCache({ maxSize: cacheBytes ?? defaultCacheBytes, sizeCalculation: bytesOfState });
    const eventOf = async (stream: string, revision: number) => (await store.read(stream, revision, 1)).events[0];
    this.#snapshots = snapshots === undefined ? null : new StreamSnapshots(snapshots, eventOf);
  }

  /**
   * Returns a stream's current state.
   * @param seen a revision that the caller knows to be stored: subscribers may get an event before its writer gets an
   *   answer
   * @throws UnavailableError
   */
  async load<State, Events>(entity: Entity<State, Events>, id: string, seen = 0): Promise<StreamState<State>> {
    const stream = streamName(entity, id);
    const reading = this.#firstReadings.get(stream);
    if (this.#states.get(stream) === undefined && reading === undefined) return this.#readFirst(entity, stream);
    // The cache may have had no room for what the other reading came to.
    const known = this.#cached<State>(stream) ?? ((await reading) as StreamState<State>);
    if (this.#soleWriter && known.revision >= seen && !this.#unsure.has(stream)) return known;
    const current = await this.#foldOn(entity, stream, known, Number.POSITIVE_INFINITY);
    return current === known ? known : this.keep(entity, stream, current);
  }

  /**
   * A stream's state as far as this process knows it, which another node may have changed since: enough for what never
   * changes again. Read where it is not cached. @throws UnavailableError
   */
  async loadKnown<State, Events>(entity: Entity<State, Events>, id: string): Promise<StreamState<State>> {
    return this.known<State>(streamName(entity, id)) ?? this.load(entity, id);
  }

  /** Takes note of events that were stored, by this process or another, so that cached states are current. */
  see(events: ReadonlyArray<RecordedEvent>): void {
    for (const event of events) {
      const cached = this.#states.peek(event.stream);
      if (cached === undefined || cached.stream.revision >= event.revision) continue;
      this.#states.delete(event.stream);
      if (cached.stream.revision + 1 === event.revision) this.#foldSeen(cached, event);
    }
  }

  /** The cached state of a stream, unless an append to it may yet be stored; null where there is none. */
  known<State>(stream: string): StreamState<State> | null {
    return this.#unsure.has(stream) ? null : (this.#cached<State>(stream) ?? null);
  }

  /** A stream's state as it was at a revision, from the log. @throws UnavailableError */
  async loadAt<State, Events>(
    entity: Entity<State, Events>,
    id: string,
    revision: number,
  ): Promise<StreamState<State>> {
    return this.#foldOn(entity, streamName(entity, id), emptyStream(entity), revision);
  }

  /** One event of a stream. @throws UnavailableError */
  async eventAt<State, Events>(entity: Entity<State, Events>, id: string, revision: number): Promise<RecordedEvent> {
    const { events } = await this.#store.read(streamName(entity, id), revision, 1);
    const [event] = events;
    if (event === undefined) throw new Error(`${streamName(entity, id)} has no event at revision ${revision}`);
    return event;
  }

  /** Drops what is cached of a stream, which may be old: another write was stored. */
  drop(stream: string): void {
    this.#states.delete(stream);
  }

  /** Drops what is cached of a stream, and caches nothing as current while an abandoned append may yet be stored. */
  dropUnsure(stream: string): void {
    this.drop(stream);
    this.#unsure.set(stream, true);
  }

  /** Keeps the newer of two states: commands that only read may finish late. @returns the state given */
  keep<State, Events>(entity: Entity<State, Events>, stream: string, state: StreamState<State>): StreamState<State> {
    const kept = this.#states.peek(stream)?.stream;
    if (kept === undefined || kept.revision < state.revision) {
      this.#states.set(stream, { stream: state, weight: entity.weigh?.(state.state) ?? 0, entity });
      this.#snapshots?.note(entity, stream, state);
    }
    return state;
  }

  async #readFirst<State, Events>(entity: Entity<State, Events>, stream: string): Promise<StreamState<State>> {
    const reading = this.#foldOn(entity, stream, emptyStream(entity), Number.POSITIVE_INFINITY);
    this.#firstReadings.set(stream, reading);
    try {
      const current = await reading;
      return current.revision === noStream ? current : this.keep(entity, stream, current);
    } finally {
      this.#firstReadings.delete(stream);
    }
  }

  /** The next reader of the stream finds an event that this release cannot read. */
  #foldSeen({ entity, stream }: CachedState, event: RecordedEvent): void {
    try {
      this.keep(entity, event.stream, foldStream(entity, stream, [event]));
    } catch (error) {
      if (!(error instanceof UnreadableEventError)) throw error;
    }
  }

  /**
   * Folds what follows a state, up to a revision, a part at a time: a stream of large payloads is never in memory as a
   * whole, and others are served between two parts of a long one. Once a stream proves to be long, its snapshot is
   * looked for: most streams have none.
   */
  async #foldOn<State, Events>(
    entity: Entity<State, Events>,
    stream: string,
    from: StreamState<State>,
    upTo: number,
  ): Promise<StreamState<State>> {
    let state = from;
    for (let parts = 1; state.revision < upTo; parts += 1) {
      const limit = Math.min(eventsRead, upTo - state.revision);
      const { events, isEnd } = await this.#store.read(stream, state.revision + 1, limit);
      state = foldStream(entity, state, events);
      if (isEnd || state.revision >= upTo) break;
      const snapshot = parts === 1 ? await this.#snapshots?.find(entity, stream, upTo) : null;
      if (snapshot != null && snapshot.revision > state.revision) state = snapshot;
      await nextTurn();
    }
    return state;
  }

  #cached<State>(stream: string): StreamState<State> | undefined {
    // A stream's category names its entity, so what was cached under its name is this entity's state.
    return this.#states.get(stream)?.stream as StreamState<State> | undefined;
  }
}
