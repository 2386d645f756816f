import type { StoredEvent } from '#event-store/event-store.ts';
import type { LogTarget, RawEvent } from '#event-store/transfer/raw-log.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';

/** A log in memory that events are imported into or exported from. Positions have gaps. */
export class MemoryLog implements LogTarget {
  readonly events: RawEvent[] = [];
  /** The number of events that it stores before it fails once, like a full disk. */
  room = Number.POSITIVE_INFINITY;

  constructor(events: Iterable<StoredEvent> = []) {
    for (const event of events) this.#add(event);
  }

  readRawLog(after: number, limit: number): ReadonlyArray<RawEvent> {
    return this.events.filter(({ position }) => position > after).slice(0, limit);
  }

  async lastPosition(): Promise<number> {
    return this.events.at(-1)?.position ?? 0;
  }

  async store(events: ReadonlyArray<StoredEvent>): Promise<number> {
    for (const event of events) {
      this.room -= 1;
      if (this.room < 0) {
        this.room = Number.POSITIVE_INFINITY;
        throw new UnavailableError('The disk is full.');
      }
      this.#add(event);
    }
    return this.lastPosition();
  }

  #add({ stream, revision, id, type, data, metadata }: StoredEvent): void {
    const position = (this.events.at(-1)?.position ?? 0) + 7;
    this.events.push({ position, stream, revision, id, type, data, metadata });
  }
}
