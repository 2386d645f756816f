import type { RecordedEvent } from '#event-store/event-store.ts';
import { type AnyProjection, handlerOf, removalOf } from '#projection-engine/projection.ts';
import { projections } from '#projections/table.ts';
import type { DocumentValue, Page, PageRequest, ReadStore, Where } from '#read-store/read-store.ts';
import { recordLast, StoredDocument } from '#read-store/stored-document.ts';

const fits = (value: DocumentValue, where: Where) =>
  Object.entries(where).every(([field, wanted]) => (value as Record<string, unknown>)[field] === wanted);

/** Every read model over a log, as of its last event: what a read store is once it has caught up. */
export class ReadModel implements ReadStore {
  readonly #log: ReadonlyArray<RecordedEvent>;
  readonly #collections = new Map<string, Map<string, StoredDocument>>();
  #seen = 0;

  constructor(log: ReadonlyArray<RecordedEvent>) {
    this.#log = log;
    for (const { name } of projections) this.#collections.set(name, new Map());
  }

  async get<Value extends DocumentValue>(collection: string, id: string): Promise<StoredDocument<Value> | null> {
    return (this.#upToDate(collection).get(id) as StoredDocument<Value> | undefined) ?? null;
  }

  async list<Value extends DocumentValue>(
    collection: string,
    where: Where,
    { after, limit }: PageRequest,
  ): Promise<Page<Value>> {
    const all = [...this.#upToDate(collection).values()]
      .filter(({ value }) => fits(value, where))
      .sort((a, b) => a.order - b.order || (a.id < b.id ? -1 : 1))
      .filter(({ order, id }) => !after || order > after.order || (order === after.order && id > after.id));
    const documents = all.slice(0, limit) as unknown as StoredDocument<Value>[];
    const last = all.length > limit ? documents.at(-1) : undefined;
    return { documents, next: last === undefined ? null : { order: last.order, id: last.id } };
  }

  async unknownEvents() {
    return [];
  }

  async status() {
    return [];
  }

  async keysLastUsed() {
    return new Map<string, string>();
  }

  async snapshot() {
    return null;
  }

  async close(): Promise<void> {}

  #upToDate(collection: string): Map<string, StoredDocument> {
    for (const event of this.#log.slice(this.#seen)) for (const each of projections) this.#project(each, event);
    this.#seen = this.#log.length;
    const documents = this.#collections.get(collection);
    if (documents === undefined) throw new Error(`there is no collection ${collection}`);
    return documents;
  }

  #project(projection: AnyProjection, event: RecordedEvent): void {
    const { name, keys } = projection;
    const documents = this.#collections.get(name) ?? new Map<string, StoredDocument>();
    const where = removalOf(projection, event.type)?.(event);
    if (where !== undefined) for (const [id, { value }] of documents) if (fits(value, where)) documents.delete(id);
    const handler = handlerOf(projection, event.type);
    if (handler === undefined) return;
    for (const id of new Set(keys(event))) {
      const before = documents.get(id);
      const value = handler(before?.value ?? null, event, id);
      if (value === null) documents.delete(id);
      else
        documents.set(id, new StoredDocument(id, before?.order ?? event.position, JSON.stringify(recordLast(value))));
    }
  }
}
