import { LRUCache } from 'lru-cache';
import { type Entity, streamName } from '#domain/shared/entity.ts';
import { type EventStore, noStream, type RecordedEvent } from '#event-store/event-store.ts';
import { clock } from '#shared/clock.ts';
import { countedCache } from '#shared/memory/counted-cache.ts';
import { type SnapshotStore, StreamSnapshots } from './stream-snapshots.ts';
import { emptyStream, foldStream, type StreamState } from './stream-state.ts';

export interface StreamLoaderOptions {
  readonly store: Pick<EventStore, 'read'>;
  /**
   * Only this process appends to the store, as on the embedded store. Then cached states are always current. Default
   * false.
   */
  readonly soleWriter?: boolean;
  /** Without it a long stream is read from its beginning. */
  readonly snapshots?: SnapshotStore;
  /** Maximum size of the cache of states. Default 64 MiB. */
  readonly cacheBytes?: number;
}

const defaultCacheBytes = 64 * 1024 * 1024;
/** Number of events in one read of a stream. */
const eventsRead = 100;
/** A rough size of the state without the collections, whose entities estimate their size themselves. */
const bytesOfState = ({ stream, bytes }: CachedState) => 1024 + 512 * stream.remembered.held + bytes;
/** Maximum number of streams with an append of unknown outcome, and how long they are remembered. */
const maxStreamsWithUnknownOutcome = 10_000;
const unknownOutcomeMs = 10 * 60 * 1000;

interface CachedState {
  readonly stream: StreamState<unknown>;
  readonly bytes: number;
  // biome-ignore lint/suspicious/noExplicitAny: the stream's category names its entity.
  readonly entity: Entity<any, any>;
}

/** Loads the states of streams and caches the most recently used. */
export class StreamLoader {
  readonly #store: Pick<EventStore, 'read'>;
  readonly #states: LRUCache<string, CachedState>;
  /** Streams to which an abandoned append may still be stored. They are read each time. */
  readonly #uncertain = countedCache<true>(maxStreamsWithUnknownOutcome, { ttl: unknownOutcomeMs });
  /** The running read of each stream that is not cached; concurrent callers share it. */
  readonly #firstReadings = new Map<string, Promise<StreamState<unknown>>>();
  readonly #snapshots: StreamSnapshots | null;
  /** Only this process appends, so a cached state is current. */
  readonly isSoleWriter: boolean;

  constructor({ store, soleWriter, snapshots, cacheBytes }: StreamLoaderOptions) {
    this.#store = store;
    this.isSoleWriter = soleWriter ?? false;
    this.#states = new LRUCache({ maxSize: cacheBytes ?? defaultCacheBytes, sizeCalculation: bytesOfState });
    const eventOf = async (stream: string, revision: number) => (await store.read(stream, revision, 1)).events[0];
    this.#snapshots = snapshots === undefined ? null : new StreamSnapshots(snapshots, eventOf);
  }

  /**
   * @param minRevision a revision that the caller knows to be stored: subscribers may get an event before its writer
   * gets an answer
   * @throws UnavailableError
   */
  async load<State, Events>(entity: Entity<State, Events>, id: string, minRevision = 0): Promise<StreamState<State>> {
    const stream = streamName(entity, id);
    const reading = this.#firstReadings.get(stream);
    if (this.#states.get(stream) === undefined && reading === undefined) return this.#readFirst(entity, stream);
    // The cache may have had no room for the result of the other read.
    const known = this.#peek<State>(stream) ?? ((await reading) as StreamState<State>);
    if (this.isSoleWriter && known.revision >= minRevision && !this.#uncertain.has(stream)) return known;
    const current = await this.#foldOn(entity, stream, known, Number.POSITIVE_INFINITY);
    return current === known ? known : this.keep(entity, stream, current);
  }

  /**
   * Loads a state that may be stale: this is enough for facts that never change. Reads the stream if it is not cached.
   * @throws UnavailableError
   */
  async loadCached<State, Events>(entity: Entity<State, Events>, id: string): Promise<StreamState<State>> {
    return this.cached<State>(streamName(entity, id)) ?? this.load(entity, id);
  }

  /** Updates the cached states with events of this process or another. */
  observe(events: ReadonlyArray<RecordedEvent>): void {
    for (const event of events) {
      const cached = this.#states.peek(event.stream);
      if (cached === undefined || cached.stream.revision >= event.revision) continue;
      this.#states.delete(event.stream);
      if (cached.stream.revision + 1 === event.revision) this.#foldObserved(cached, event);
    }
  }

  /** The cached state; null without one, or if an append to the stream may still be stored. */
  cached<State>(stream: string): StreamState<State> | null {
    return this.#uncertain.has(stream) ? null : (this.#peek<State>(stream) ?? null);
  }

  /** Reads the stream from the log, not from the cache. @throws UnavailableError */
  async loadAt<State, Events>(
    entity: Entity<State, Events>,
    id: string,
    revision: number,
  ): Promise<StreamState<State>> {
    return this.#foldOn(entity, streamName(entity, id), emptyStream(entity), revision);
  }

  /** @throws UnavailableError */
  async eventAt<State, Events>(entity: Entity<State, Events>, id: string, revision: number): Promise<RecordedEvent> {
    const { events } = await this.#store.read(streamName(entity, id), revision, 1);
    const [event] = events;
    if (event === undefined) throw new Error(`${streamName(entity, id)} has no event at revision ${revision}`);
    return event;
  }

  /** Drops a cached state that another write has made stale. */
  drop(stream: string): void {
    this.#states.delete(stream);
  }

  /** Drops a cached state, because none is cached while an abandoned append may still be stored. */
  dropUncertain(stream: string): void {
    this.drop(stream);
    this.#uncertain.set(stream, true);
  }

  /** The newer of two states is cached, because commands that only read may finish late. @returns the given state */
  keep<State, Events>(entity: Entity<State, Events>, stream: string, state: StreamState<State>): StreamState<State> {
    const kept = this.#states.peek(stream)?.stream;
    if (kept === undefined || kept.revision < state.revision) {
      this.#states.set(stream, { stream: state, bytes: entity.estimateBytes?.(state.state) ?? 0, entity });
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

  /** Caches nothing if the event cannot be folded: the next read of the stream reports that. */
  #foldObserved({ entity, stream }: CachedState, event: RecordedEvent): void {
    try {
      this.keep(entity, event.stream, foldStream(entity, stream, [event]));
    } catch {
      // One stream that cannot be folded must not stop the others.
    }
  }

  /**
   * Folds the events in parts. So a stream of large payloads is never completely in memory, and other requests are
   * served between two parts. It looks for a snapshot only if the stream is long, because most streams have none.
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
      await clock.nextTurn();
    }
    return state;
  }

  #peek<State>(stream: string): StreamState<State> | undefined {
    // A stream's category determines its entity, so the state under its name belongs to this entity.
    return this.#states.get(stream)?.stream as StreamState<State> | undefined;
  }
}
