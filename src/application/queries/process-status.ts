import type { EventFailure } from '#domain/event-failure.ts';

/** The status of a process, whichever node runs it. */
export interface ProcessStatus {
  readonly name: string;
  /** `stopped`: at an event, until an operator decides. `waiting`: until a retry succeeds, which needs nobody. */
  readonly state: 'running' | 'waiting' | 'stopped';
  /** The position up to which it has reacted to every event of its types. */
  readonly position: number;
  /** The event at which it has stopped; null unless it has. */
  readonly failure: EventFailure | null;
  /** The read model for which it waits, or what is unavailable; null if it does not wait. */
  readonly waitingFor: string | null;
}
