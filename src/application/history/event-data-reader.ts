import type { DataAt } from '#domain/shared/text-reference.ts';
import type { RecordedEvent } from '#event-store/event-store.ts';
import type { JsonObject } from '#shared/json/json.ts';

/** Number of cached events. Records before and after an event, and after the next one, share most of their data. */
const maxKept = 8;

/** Reads single events of one stream, for one answer. Caches the latest. */
export class EventDataReader {
  readonly #read: DataAt;
  readonly #kept = new Map<number, Promise<JsonObject>>();

  constructor(read: DataAt) {
    this.#read = read;
  }

  /** The data of the event at the revision. @throws UnavailableError */
  readonly dataAt: DataAt = (revision) => {
    const data = this.#kept.get(revision) ?? this.#read(revision);
    this.#keep(revision, data);
    return data;
  };

  /** Keeps the data of an event that was already read. */
  remember({ revision, data }: RecordedEvent): void {
    if (!this.#kept.has(revision)) this.#keep(revision, Promise.resolve(data));
  }

  #keep(revision: number, data: Promise<JsonObject>): void {
    this.#kept.delete(revision);
    this.#kept.set(revision, data);
    if (this.#kept.size > maxKept) this.#kept.delete(this.#kept.keys().next().value ?? -1);
  }
}
