import type { RecordedEvent } from '#event-store/event-store.ts';
import { type AnyProjection, reactionsOf } from '#projection-engine/projection.ts';
import { projections } from '#projections/table.ts';
import { indexedField } from '#read-store/indexable-fields.ts';
import type { DocumentPage, DocumentValue, PageKey, PageRequest, ReadStore, Where } from '#read-store/read-store.ts';
import { recordLast, StoredDocument } from '#read-store/stored-document.ts';

const fits = (value: DocumentValue, where: Where) =>
  Object.entries(where).every(([field, wanted]) => indexedField(value, field) === wanted);

/** A read store with every read model, always up to date with the log. */
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
    { after, limit, newestFirst = false }: PageRequest,
  ): Promise<DocumentPage<Value>> {
    const sign = newestFirst ? -1 : 1;
    const compare = (a: PageKey, b: PageKey) => sign * (a.order - b.order || (a.id < b.id ? -1 : Number(a.id > b.id)));
    const all = [...this.#upToDate(collection).values()]
      .filter(({ value }) => fits(value, where))
      .sort(compare)
      .filter((document) => !after || compare(document, after) > 0);
    const documents = all.slice(0, limit) as unknown as StoredDocument<Value>[];
    const last = all.length > limit ? documents.at(-1) : undefined;
    return { documents, next: last === undefined ? null : { order: last.order, id: last.id } };
  }

  async count(collection: string, where: Where, limit: number): Promise<number> {
    const matching = [...this.#upToDate(collection).values()].filter(({ value }) => fits(value, where));
    return Math.min(limit, matching.length);
  }

  async unknownEvents() {
    return [];
  }

  async status() {
    return [];
  }

  async close(): Promise<void> {}

  /** The texts of the documents of a collection, by id. */
  texts(collection: string): ReadonlyMap<string, string> {
    return new Map([...this.#upToDate(collection)].map(([id, { text }]) => [id, text]));
  }

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
    const { handle, removeWhere } = reactionsOf(projection).get(event.type) ?? {};
    const where = removeWhere?.(event);
    if (where !== undefined) for (const [id, { value }] of documents) if (fits(value, where)) documents.delete(id);
    if (handle === undefined) return;
    const valueBefore = (id: string) => documents.get(id)?.value ?? null;
    const after = Array.from(new Set(keys(event)), (id) => ({
      id,
      order: documents.get(id)?.order ?? event.position,
      value: handle(valueBefore(id), event, id, valueBefore),
    }));
    for (const { id, order, value } of after) {
      if (value === null) documents.delete(id);
      else documents.set(id, new StoredDocument(id, order, JSON.stringify(recordLast(value)), event.position));
    }
  }
}
