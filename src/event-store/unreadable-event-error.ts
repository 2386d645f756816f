import type { RawEvent } from './transfer/raw-log.ts';
import { UpcastError } from './upcasting.ts';

/** A stored event that this release cannot read: its text is not JSON, or a newer release wrote it. */
export class UnreadableEventError extends Error {
  override readonly name = 'UnreadableEventError';
  readonly position: number;
  readonly eventId: string;

  /**
   * @param cause why it cannot be read; only an `UpcastError` is quoted, because others may quote the event's data
   */
  constructor({ position, stream, revision, id, type }: Omit<RawEvent, 'data' | 'metadata'>, cause: unknown) {
    const place = `Event ${id} at position ${position} (${type}, revision ${revision} of ${stream})`;
    super(`${place} cannot be read: ${reasonOf(cause)}`, { cause });
    this.position = position;
    this.eventId = id;
  }
}

function reasonOf(cause: unknown): string {
  if (cause instanceof UpcastError) return cause.message;
  return cause instanceof SyntaxError ? 'it is not JSON.' : 'it does not have the shape that it should have.';
}
