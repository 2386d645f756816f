import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Entity, streamName } from '#domain/shared/entity.ts';
import type { EventStore, RecordedEvent } from '#event-store/event-store.ts';
import { EventDataReader } from './event-data-reader.ts';
import { type FoldedStream, foldEvent, unbegunStream } from './folded-stream.ts';
import { KeptStates } from './kept-states.ts';

/** An event of a stream, with the stream before and after it. */
export interface HistoryStep<State> {
  readonly event: RecordedEvent;
  readonly before: FoldedStream<State>;
  readonly after: FoldedStream<State>;
}

export interface StreamHistoryOptions {
  /** Of the states that are kept in memory; default 64 MiB. */
  readonly keptBytes?: number;
}

const defaultKeptBytes = 64 * 1024 * 1024;
/** Events between two states that are kept; as many are read at a time. */
const eventsBetween = 100;
/** What a state of versions takes beside one that is a hundred events older: the paths to what changed. */
const bytesOfKeptState = 64 * 1024;

/**
 * Streams as they were. A long stream is not read from its beginning: states in its middle are kept in memory, and a
 * state between two of them is folded from at most a hundred events.
 */
export class StreamHistory {
  readonly #store: Pick<EventStore, 'read'>;
  readonly #kept: KeptStates;

  constructor(store: Pick<EventStore, 'read'>, { keptBytes = defaultKeptBytes }: StreamHistoryOptions = {}) {
    this.#store = store;
    this.#kept = new KeptStates(keptBytes);
  }

  /**
   * The stream as it was after the event at a revision, or after its last one where that comes before.
   * @throws UnavailableError; UnreadableEventError
   */
  async at<State, Events>(entity: Entity<State, Events>, id: string, revision: number): Promise<FoldedStream<State>> {
    const stream = streamName(entity, id);
    let state = this.#kept.upTo<State>(stream, revision) ?? unbegunStream(entity);
    for await (const { after } of this.#steps(entity, stream, state, revision)) state = after;
    return state;
  }

  /** The revision of the stream's last event up to a time; -1 where there is none. @throws UnavailableError */
  async revisionAt<State, Events>(entity: Entity<State, Events>, id: string, time: string): Promise<number> {
    const stream = streamName(entity, id);
    const isUpTo = async (revision: number) => {
      const [event] = (await this.#store.read(stream, revision, 1)).events;
      return event !== undefined && event.metadata.time <= time;
    };
    const { from, until } = this.#kept.around(stream, time);
    let low = from;
    let high = until ?? low + 1;
    // Steps that double lead past the time, or past the end of the stream.
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

  /**
   * The stream's events from a revision on, each with the stream before and after it. Others are served in between.
   * @param until the last revision wanted
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

  /** Reads the data of single events of a stream. */
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
      // A part ends where a state is to be kept, so that the same events are read the next time.
      const limit = Math.min(eventsBetween - (next % eventsBetween), until - before.revision);
      const { events, isEnd } = await this.#store.read(stream, next, limit);
      for (const event of events) {
        const after = foldEvent(entity, before, event);
        if ((after.revision + 1) % eventsBetween === 0) this.#keep(entity, stream, after);
        yield { event, before, after };
        before = after;
      }
      if (isEnd || events.length === 0) return;
      await nextTurn();
    }
  }

  #keep<State, Events>(entity: Entity<State, Events>, stream: string, state: FoldedStream<State>): void {
    // An entity whose states hold contents of clients says what they weigh.
    const contents = entity.stateVersion === undefined ? (entity.weigh?.(state.state) ?? 0) : 0;
    this.#kept.keep(stream, { ...state, weight: bytesOfKeptState + contents });
  }
}
