import type { StreamState } from '#application/commands/stream-state.ts';
import type { StreamWriter } from '#application/commands/stream-writer.ts';
import { type Entity, streamName } from '#domain/shared/entity.ts';
import type { RecordedEvent } from '#event-store/event-store.ts';
import { UnreadableEventError } from '#event-store/unreadable-event-error.ts';
import type { Process, StreamOf } from './process.ts';

/** Events whose streams are read while those before them are handled. */
const eventsAhead = 16;

/** Reads the streams that a process is sure to load for the next events, so that it does not wait for one after the other. */
export class ReadAhead {
  readonly #events: ReadonlyArray<RecordedEvent>;
  readonly #process: Pick<Process, 'loads'>;
  readonly #writer: Pick<StreamWriter, 'load'>;
  /** By event. */
  readonly #begun = new Map<string, { readonly stream: string; readonly state: Promise<StreamState<unknown>> }>();
  #next = 0;

  /** @param events in the order in which they are handled */
  constructor(
    events: ReadonlyArray<RecordedEvent>,
    process: Pick<Process, 'loads'>,
    writer: Pick<StreamWriter, 'load'>,
  ) {
    this.#events = events;
    this.#process = process;
    this.#writer = writer;
  }

  /** Must be called before an event is handled. @param index of the event */
  at(index: number): void {
    for (; this.#next < Math.min(index + eventsAhead, this.#events.length); this.#next += 1) {
      const event = this.#events[this.#next];
      const of = event === undefined ? null : this.#streamFor(event);
      if (event === undefined || of === null) continue;
      const state: Promise<StreamState<unknown>> = this.#writer.load(of.entity, of.id);
      // Whoever takes it gets the failure; perhaps nobody does.
      state.catch(() => undefined);
      this.#begun.set(event.id, { stream: streamName(of.entity, of.id), state });
    }
  }

  /** The state that was read for an event, once; null where none was, or reading it failed. */
  async take<State, Events>(
    event: RecordedEvent,
    entity: Entity<State, Events>,
    id: string,
  ): Promise<StreamState<State> | null> {
    const begun = this.#begun.get(event.id);
    if (begun?.stream !== streamName(entity, id)) return null;
    this.#begun.delete(event.id);
    // A stream's category names its entity.
    return begun.state.catch(() => null) as Promise<StreamState<State> | null>;
  }

  #streamFor(event: RecordedEvent): StreamOf | null {
    try {
      return this.#process.loads?.(event) ?? null;
    } catch (error) {
      if (error instanceof UnreadableEventError) return null;
      throw error;
    }
  }
}
