import type { EventFailure } from '#domain/event-failure.ts';

/** The status of a process, whichever node runs it. */
export interface ProcessStatus {
  readonly name: string;
  /** `stopped`: at an event, until an operator decides. `waiting`: until a retry succeeds, which needs no operator. */
  readonly state: 'running' | 'waiting' | 'stopped';
  /** It has reacted to every event of its types up to here. */
  readonly position: number;
  /** Null unless it has stopped. */
  readonly failure: EventFailure | null;
  /** A read model, or what is unavailable; null if it does not wait. */
  readonly waitingFor: string | null;
}
