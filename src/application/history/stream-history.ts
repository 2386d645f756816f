import { apiKey } from '#domain/api-key/api-key.ts';
import { type Entity, streamName } from '#domain/shared/entity.ts';
import type { EventStore, RecordedEvent } from '#event-store/event-store.ts';
import { clock } from '#shared/clock.ts';
import { EventDataReader } from './event-data-reader.ts';
import { type FoldedStream, foldEvent, KeptStates, unbegunStream } from './folded-stream.ts';
import { KeyNames } from './key-names.ts';

/** An event, with the stream before and after it. */
export interface HistoryStep<State> {
  readonly event: RecordedEvent;
  readonly before: FoldedStream<State>;
  readonly after: FoldedStream<State>;
}

/** Maximum size of the states in memory. */
const maxKeptBytes = 64 * 1024 * 1024;
/** The events between two kept states. One read has the same number of events. */
const eventsBetween = 100;
/** The size of a state of versions, in addition to one a hundred events older: the paths to the changes. */
const bytesOfKeptState = 64 * 1024;

/**
 * A long stream is not read from its beginning. States in its middle are kept in memory, and a state between two of
 * them is folded from at most a hundred events.
 */
export class StreamHistory {
  readonly #store: Pick<EventStore, 'read'>;
  readonly #kept = new KeptStates(maxKeptBytes);

  /** The names of the keys that have caused events. */
  readonly keyNames = new KeyNames(async (keyId) => (await this.at(apiKey, keyId, 0)).state);

  constructor(store: Pick<EventStore, 'read'>) {
    this.#store = store;
  }

  /**
   * The state after the event at the revision, or after the last event if the stream is shorter.
   * @throws UnavailableError; UnreadableEventError
   */
  async at<State, Events>(entity: Entity<State, Events>, id: string, revision: number): Promise<FoldedStream<State>> {
    const stream = streamName(entity, id);
    let state = this.#kept.upTo<State>(stream, revision) ?? unbegunStream(entity);
    for await (const { after } of this.#steps(entity, stream, state, revision)) state = after;
    return state;
  }

  /** The revision of the stream's last event up to the time; -1 if there is none. @throws UnavailableError */
  async revisionAt<State, Events>(entity: Entity<State, Events>, id: string, time: string): Promise<number> {
    const stream = streamName(entity, id);
    const isUpTo = async (revision: number) => {
      const [event] = (await this.#store.read(stream, revision, 1)).events;
      return event !== undefined && event.metadata.time <= time;
    };
    const { from, until } = this.#kept.around(stream, time);
    let low = from;
    let high = until ?? low + 1;
    // The steps double until they are past the time or past the end of the stream.
    if (until === null) {
      for (let step = 1; await isUpTo(high); step *= 2) {
        low = high;
        high += step;
      }
    }
    while (high - low > 1) {
      const middle = (low + high) >>> 1;
      if (await isUpTo(middle)) low = middle;
      else high = middle;
    }
    return low;
  }

  /** @throws UnavailableError; UnreadableEventError */
  async eventIdAt(stream: string, revision: number): Promise<string | null> {
    const [event] = (await this.#store.read(stream, revision, 1)).events;
    return event?.id ?? null;
  }

  /**
   * Reads a part of the history in steps. Other requests are served between two parts.
   * @param until the last revision
   * @throws UnavailableError; UnreadableEventError
   */
  async *steps<State, Events>(
    entity: Entity<State, Events>,
    id: string,
    from: number,
    until = Number.POSITIVE_INFINITY,
  ): AsyncGenerator<HistoryStep<State>, void, void> {
    const before = from === 0 ? unbegunStream(entity) : await this.at(entity, id, from - 1);
    if (before.revision < from - 1) return;
    yield* this.#steps(entity, streamName(entity, id), before, until);
  }

  dataReader<State, Events>(entity: Entity<State, Events>, id: string): EventDataReader {
    const stream = streamName(entity, id);
    return new EventDataReader(async (revision) => {
      const [event] = (await this.#store.read(stream, revision, 1)).events;
      if (event === undefined) throw new Error(`${stream} has no event at revision ${revision}`);
      return event.data;
    });
  }

  async *#steps<State, Events>(
    entity: Entity<State, Events>,
    stream: string,
    from: FoldedStream<State>,
    until: number,
  ): AsyncGenerator<HistoryStep<State>, void, void> {
    let before = from;
    while (before.revision < until) {
      const next = before.revision + 1;
      // A part ends at a state to keep, so that the next read has the same parts.
      const limit = Math.min(eventsBetween - (next % eventsBetween), until - before.revision);
      const { events, isEnd } = await this.#store.read(stream, next, limit);
      for (const event of events) {
        const after = foldEvent(entity, before, event);
        if ((after.revision + 1) % eventsBetween === 0) this.#keep(entity, stream, after);
        yield { event, before, after };
        before = after;
      }
      if (isEnd || events.length === 0) return;
      await clock.nextTurn();
    }
  }

  #keep<State, Events>(entity: Entity<State, Events>, stream: string, state: FoldedStream<State>): void {
    // An entity whose states have contents of clients estimates their size.
    const contents = entity.stateVersion === undefined ? (entity.estimateBytes?.(state.state) ?? 0) : 0;
    this.#kept.keep(stream, { ...state, bytes: bytesOfKeptState + contents });
  }
}
