import type { DataAt } from '#domain/shared/text-reference.ts';
import type { RecordedEvent } from '#event-store/event-store.ts';
import type { JsonObject } from '#shared/json/json.ts';

/** Data kept: the records before and after an event, and after the next one, have most of theirs in common. */
const maxKept = 8;

/** Reads the data of single events of one stream for one answer, and caches the latest. */
export class EventDataReader {
  readonly #read: DataAt;
  readonly #kept = new Map<number, Promise<JsonObject>>();

  constructor(read: DataAt) {
    this.#read = read;
  }

  /**
   * The data of the event at a revision.
   * @throws UnavailableError
   */
  readonly dataAt: DataAt = (revision) => {
    const data = this.#kept.get(revision) ?? this.#read(revision);
    this.#keep(revision, data);
    return data;
  };

  /** Takes an event that was read already. */
  remember({ revision, data }: RecordedEvent): void {
    if (!this.#kept.has(revision)) this.#keep(revision, Promise.resolve(data));
  }

  #keep(revision: number, data: Promise<JsonObject>): void {
    this.#kept.delete(revision);
    this.#kept.set(revision, data);
    if (this.#kept.size > maxKept) this.#kept.delete(this.#kept.keys().next().value ?? -1);
  }
}
