import type { RecordedEvent } from '#event-store/event-store.ts';

/** The progress of a process, whichever node runs it. */
export interface ProcessProgress {
  /** Whether the process reacts to one of these events, so that an answer waits for it. */
  handles(events: ReadonlyArray<RecordedEvent>): boolean;
  /**
   * Waits until the process has reacted to every event up to a position.
   * @returns the position of the last event that the process itself has appended; null after the time limit, or if the
   *   process has stopped
   */
  waitUntilProcessed(position: number, milliseconds: number): Promise<number | null>;
}
