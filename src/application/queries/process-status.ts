import type { EventFailure } from '#domain/shared/event-failure.ts';

/** The status of a process, whichever node runs it. */
export interface ProcessStatus {
  readonly name: string;
  readonly state: 'running' | 'stopped';
  /** The position up to which it has reacted to every event of its types. */
  readonly position: number;
  /** The event at which it has stopped; null while it runs. */
  readonly failure: EventFailure | null;
}
