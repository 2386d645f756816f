import type { RecordedEvent } from './event-store.ts';
import type { LogTail } from './log-tail.ts';

/**
 * Identifies a log by its first event and that event's position. In another store the same events have other positions,
 * so a position in one log means nothing in the other.
 */
export function identityByFirst({ position, id }: Pick<RecordedEvent, 'position' | 'id'>): string {
  return `${position}/${id}`;
}

/**
 * @param waits for the first event while the log is empty
 * @returns null if the log is empty, or if the signal aborts first
 */
export async function identityOfLog(
  tail: Pick<LogTail, 'firstEvent'>,
  signal: AbortSignal,
  waits = true,
): Promise<string | null> {
  const first = await tail.firstEvent(signal, waits);
  return first === null ? null : identityByFirst(first);
}
