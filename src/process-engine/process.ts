import type { StreamState } from '#application/commands/stream-state.ts';
import type { StreamWrite } from '#application/commands/stream-writer.ts';
import type { Entity } from '#domain/shared/entity.ts';
import type { RecordedEvent } from '#event-store/event-store.ts';
import type { ReadStore } from '#read-store/read-store.ts';
import type { JsonObject } from '#shared/json/json.ts';
import type { PauseUntil } from './reactions.ts';

/** What a process works with. */
export interface ProcessTools {
  /** A stream's current state; of the event's own stream, one that knows the event. */
  readonly load: <State, Events>(entity: Entity<State, Events>, id: string) => Promise<StreamState<State>>;
  /** The data of one event of a stream: what its state does not hold. */
  readonly dataAt: <State, Events>(entity: Entity<State, Events>, id: string, revision: number) => Promise<JsonObject>;
  /**
   * Decides and appends in the name of whoever caused the event. Rejects when it could not, with `CommandRejectedError` where
   * it was refused: the event is tried again.
   */
  readonly handle: <State, Events>(
    handling: Omit<StreamWrite<State, Events>, 'origin' | 'idempotency'>,
  ) => Promise<void>;
  /** The read store, one read model of it as of everything stored now. Rejects when it does not get there in time. */
  readonly documentsUpToDate: (collection: string) => Promise<ReadStore>;
  /** Waits until a time (RFC 3339) and lets others work meanwhile; only where `atOnce` is more than one. */
  readonly pauseUntil: PauseUntil;
  readonly log: { error(details: object, message: string): void };
}

/**
 * Events in, commands out. It may see an event again after a crash, so what it decides must come to nothing when it
 * was done already.
 */
export interface Process {
  readonly name: string;
  /** The event types that it looks at. */
  readonly types: ReadonlyArray<string>;
  /** Whether it will do something about the event, as far as the event alone tells. */
  readonly concerns: (event: RecordedEvent) => boolean;
  /**
   * How many events it reacts to at once, in no order. Default 1: one after the other, each until it succeeds. Where it
   * is more, it works in the background: no answer waits for it.
   */
  readonly atOnce?: number;
  readonly react: (event: RecordedEvent, tools: ProcessTools) => Promise<void>;
}

/** Whether a process will do something about one of these events that an answer waits for, as far as they tell. */
export function concernsOneOf({ types, concerns, atOnce }: Process, events: ReadonlyArray<RecordedEvent>): boolean {
  if (atOnce !== undefined) return false;
  return events.some((event) => types.includes(event.type) && concerns(event));
}
