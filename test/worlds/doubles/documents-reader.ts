import { declaredIndex } from '#read-store/indexable-fields.ts';
import type { ReadStoreNotes } from '#read-store/notes.ts';
import type { DocumentPage, DocumentValue, PageKey, PageRequest, ReadStore, Where } from '#read-store/read-store.ts';
import { StoredDocument } from '#read-store/stored-document.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { type KeptGeneration, matches } from './kept-documents.ts';
import type { SharedDocuments } from './shared-documents.ts';

/** The reading side of the read models of a world. */
export class DocumentsReader implements ReadStore {
  readonly #documents: SharedDocuments;
  readonly #notes: ReadStoreNotes;
  #isClosed = false;

  constructor(documents: SharedDocuments, notes: ReadStoreNotes) {
    this.#documents = documents;
    this.#notes = notes;
  }

  async get<Value extends DocumentValue>(name: string, id: string): Promise<StoredDocument<Value> | null> {
    const kept = this.#current(name).documents.get(id);
    return kept === undefined || kept.text === null
      ? null
      : new StoredDocument(id, kept.order, kept.text, kept.position);
  }

  async list<Value extends DocumentValue>(
    name: string,
    where: Where,
    { after, limit, maxBytes, newestFirst = false }: PageRequest,
  ): Promise<DocumentPage<Value>> {
    const sign = newestFirst ? -1 : 1;
    const compare = (a: PageKey, b: PageKey) => sign * (a.order - b.order || (a.id < b.id ? -1 : Number(a.id > b.id)));
    const left = this.#matching<Value>(name, where)
      .sort(compare)
      .filter((document) => after === undefined || compare(document, after) > 0);
    const documents: StoredDocument<Value>[] = [];
    let bytes = 0;
    for (const document of left.slice(0, limit)) {
      bytes += document.text.length;
      if (documents.length > 0 && bytes > maxBytes) break;
      documents.push(document);
    }
    const last = documents.length < left.length ? documents.at(-1) : undefined;
    return { documents, next: last === undefined ? null : { order: last.order, id: last.id } };
  }

  async count(name: string, where: Where, limit: number): Promise<number> {
    return Math.min(limit, this.#matching(name, where).length);
  }

  async status() {
    this.#ensureOpen();
    return this.#notes.status();
  }

  async unknownEvents() {
    this.#ensureOpen();
    return (await this.#notes.operatorState()).unknownEvents?.types ?? [];
  }

  async close(): Promise<void> {
    this.#isClosed = true;
  }

  #matching<Value extends DocumentValue>(name: string, where: Where): StoredDocument<Value>[] {
    const { indexes, documents } = this.#current(name);
    declaredIndex(indexes, where);
    const all = [...documents].flatMap(([id, { order, position, text }]) =>
      text === null ? [] : [new StoredDocument<Value>(id, order, text, position)],
    );
    return all.filter(({ value }) => matches(value, where));
  }

  #current(name: string): KeptGeneration {
    this.#ensureOpen();
    const current = this.#documents.current(name);
    if (current === null) throw new UnavailableError(`The read model ${name} is not there yet.`);
    return current;
  }

  #ensureOpen(): void {
    if (this.#isClosed) throw new UnavailableError('The read store is closed.');
  }
}
