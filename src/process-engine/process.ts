import type { StreamState } from '#application/commands/stream-state.ts';
import type { StreamWrite } from '#application/commands/streams/stream-write.ts';
import type { Entity } from '#domain/shared/entity.ts';
import type { RecordedEvent } from '#event-store/event-store.ts';
import { UnreadableEventError } from '#event-store/unreadable-event-error.ts';
import type { ReadStore } from '#read-store/read-store.ts';
import type { JsonObject } from '#shared/json/json.ts';
import type { PauseUntil } from './reactions.ts';

/** What a process works with. */
export interface ProcessTools {
  /** A stream's current state; of the event's own stream, one that knows the event. */
  readonly load: <State, Events>(entity: Entity<State, Events>, id: string) => Promise<StreamState<State>>;
  /**
   * Whether the process has met, before this event, an event of a type that it `remembers` in a stream; null when it
   * cannot say, because it does not follow the log from its beginning. A catch-up need not load each stream then.
   */
  readonly hasMet: <State, Events>(entity: Entity<State, Events>, id: string) => boolean | null;
  /** The data of one event of a stream: what its state does not hold. */
  readonly dataAt: <State, Events>(entity: Entity<State, Events>, id: string, revision: number) => Promise<JsonObject>;
  /**
   * Decides and appends in the name of whoever caused the event. Rejects when it could not, with `CommandRejectedError`
   * where it was refused: the event is tried again.
   */
  readonly write: <State, Events>(write: Omit<StreamWrite<State, Events>, 'origin' | 'idempotency'>) => Promise<void>;
  /** The read store, one read model of it as of everything stored now. Rejects when it does not get there in time. */
  readonly documentsUpToDate: (collection: string) => Promise<ReadStore>;
  /** Waits until a time (RFC 3339) and lets others work meanwhile; only where `concurrency` is more than one. */
  readonly pauseUntil: PauseUntil;
  /** The time now, on the clock of `pauseUntil`. */
  readonly now: () => Date;
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
  /** Whether it does something about the event, as far as the event alone shows. */
  readonly handles: (event: RecordedEvent) => boolean;
  /**
   * How many events it handles at once, in no order. Default 1: one after the other, each until it succeeds. Where it
   * is more, it works in the background: no answer waits for it.
   */
  readonly concurrency?: number;
  /** Of its types, those whose streams `hasMet` knows. Only for one that handles events in order. */
  readonly remembers?: ReadonlyArray<string>;
  readonly handle: (event: RecordedEvent, tools: ProcessTools) => Promise<void>;
}

/** Whether a process will do something about one of these events that an answer waits for, as far as the events alone show. */
export function handlesOneOf({ types, handles, concurrency }: Process, events: ReadonlyArray<RecordedEvent>): boolean {
  if (concurrency !== undefined) return false;
  return events.some((event) => types.includes(event.type) && handles(event));
}

/** Whether a process may do something about an event: one that cannot be read may be of concern. */
export function mayHandle({ handles }: Process, event: RecordedEvent): boolean {
  try {
    return handles(event);
  } catch (error) {
    if (error instanceof UnreadableEventError) return true;
    throw error;
  }
}
