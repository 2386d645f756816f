import { emptyStream, foldStream } from '#application/streams/stream-state.ts';
import { type Entity, streamName } from '#domain/shared/entity.ts';
import type { RecordedEvent } from '#event-store/event-store.ts';

/** The log of a world at one moment, with the states of its streams. */
export class WorldLog {
  readonly events: ReadonlyArray<RecordedEvent>;
  readonly #streams = new Map<string, RecordedEvent[]>();

  constructor(events: ReadonlyArray<RecordedEvent>) {
    this.events = events;
    for (const event of events) {
      const stream = this.#streams.get(event.stream);
      if (stream === undefined) this.#streams.set(event.stream, [event]);
      else stream.push(event);
    }
  }

  of(type: string): ReadonlyArray<RecordedEvent> {
    return this.events.filter((event) => event.type === type);
  }

  /** The ids of the resources that events of a type name. */
  idsOf(type: string): ReadonlyArray<string> {
    return this.of(type).map(({ data }) => String(data.id));
  }

  /** The state after its last event. */
  state<State, Events>(entity: Entity<State, Events>, id: string): State {
    return foldStream(entity, emptyStream(entity), this.#streams.get(streamName(entity, id)) ?? []).state;
  }
}
