import type { CommandHandler, Handling } from '#event-store/command-handler.ts';
import type { RecordedEvent } from '#event-store/event-store.ts';
import type { ReadStore } from '#read-store/read-store.ts';

/** What a process works with. */
export interface ProcessTools {
  readonly load: CommandHandler['load'];
  /** Decides and appends in the name of whoever caused the event. Rejects when it could not: the event is tried again. */
  readonly handle: <State, Events>(handling: Omit<Handling<State, Events>, 'origin' | 'idempotency'>) => Promise<void>;
  /** The read store, one read model of it as of everything stored now. Rejects when it does not get there in time. */
  readonly documentsUpToDate: (collection: string) => Promise<ReadStore>;
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
  readonly react: (event: RecordedEvent, tools: ProcessTools) => Promise<void>;
}
