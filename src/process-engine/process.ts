import type { StreamState } from '#application/commands/stream-state.ts';
import type { StreamWrite } from '#application/commands/streams/stream-write.ts';
import type { Entity } from '#domain/shared/entity.ts';
import type { RecordedEvent } from '#event-store/event-store.ts';
import { UnreadableEventError } from '#event-store/unreadable-event-error.ts';
import type { ReadStore } from '#read-store/read-store.ts';
import type { JsonObject } from '#shared/json/json.ts';
import type { PauseUntil } from './reactions.ts';

/** What a process may use for a reaction. */
export interface ProcessTools {
  /** Loads the current state of a stream. The state of the event's own stream includes the event. */
  readonly load: <State, Events>(entity: Entity<State, Events>, id: string) => Promise<StreamState<State>>;
  /**
   * Whether the process has met, before this event, an event of a type that it `remembers` in a stream; null when it
   * cannot say, because it does not follow the log from its beginning. A catch-up need not load each stream then.
   */
  readonly hasMet: <State, Events>(entity: Entity<State, Events>, id: string) => boolean | null;
  /** Reads the data of one event of a stream, for what its state does not contain. */
  readonly dataAt: <State, Events>(entity: Entity<State, Events>, id: string, revision: number) => Promise<JsonObject>;
  /**
   * Decides and appends in the name of the actor who caused the event. It rejects if it cannot, with
   * `CommandRejectedError` after a refusal; then the event is retried.
   */
  readonly write: <State, Events>(write: Omit<StreamWrite<State, Events>, 'origin' | 'idempotency'>) => Promise<void>;
  /**
   * Returns the read store when one of its read models contains everything that is stored now. It rejects after the
   * time limit.
   */
  readonly documentsUpToDate: (collection: string) => Promise<ReadStore>;
  /** Waits until a time (RFC 3339), and lets other reactions run meanwhile. Only for a process with `concurrency`. */
  readonly pauseUntil: PauseUntil;
  /** The time now, on the clock of `pauseUntil`. */
  readonly now: () => Date;
  readonly log: { error(details: object, message: string): void };
}

/**
 * Reacts to events with commands. After a crash it may see an event again, so a decision must append nothing if its
 * work is already done.
 */
export interface Process {
  readonly name: string;
  /** The event types that it looks at. */
  readonly types: ReadonlyArray<string>;
  /** Whether the process reacts to the event, as far as the event alone shows. */
  readonly handles: (event: RecordedEvent) => boolean;
  /**
   * How many events it handles at once, in any order. By default it handles one after the other, each until it
   * succeeds. A process with more works in the background: no answer waits for it.
   */
  readonly concurrency?: number;
  /** The types whose streams `hasMet` knows. Only for a process without `concurrency`. */
  readonly remembers?: ReadonlyArray<string>;
  readonly handle: (event: RecordedEvent, tools: ProcessTools) => Promise<void>;
}

/** Whether a process may react to an event. It may react to one that cannot be read. */
export function mayHandle({ handles }: Process, event: RecordedEvent): boolean {
  try {
    return handles(event);
  } catch (error) {
    if (error instanceof UnreadableEventError) return true;
    throw error;
  }
}
