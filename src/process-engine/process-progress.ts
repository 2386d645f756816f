import type { RecordedEvent } from '#event-store/event-store.ts';

/** How far a process is, whichever node runs it. */
export interface ProcessProgress {
  /** Whether it will do something about one of these events that an answer waits for. */
  handles(events: ReadonlyArray<RecordedEvent>): boolean;
  /**
   * Waits until everything up to a position was reacted to.
   * @returns the position of the last event that it has appended itself; null when the time ran out, or it has stopped
   */
  waitUntilProcessed(position: number, milliseconds: number): Promise<number | null>;
}
