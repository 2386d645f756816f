import { ReadStoreNotes } from '#read-store/notes.ts';
import type { PositionsWriter } from '#read-store/published-positions.ts';
import type { CollectionDefinition, Generation, ReadStore, ReadStoreWriter } from '#read-store/read-store.ts';
import type { RecordStore } from '#records/record-store.ts';
import { FencedError } from '#shared/errors/fenced-error.ts';
import { DocumentsReader } from './documents-reader.ts';
import { DocumentsWriter } from './documents-writer.ts';
import type { KeptDocument, KeptGeneration } from './kept-documents.ts';

interface KeptCollection {
  /** The newest token that has written it. */
  fence: number;
  /** The number of its newest generation. */
  last: number;
  /** The number of the generation that queries read. */
  current: number;
  readonly generations: Map<number, KeptGeneration>;
}

/** The read models of a database, which the nodes of a world share. As on MongoDB, each collection has a fence. */
export class SharedDocuments {
  readonly #collections = new Map<string, KeptCollection>();

  /** @param records with the notes of the read store */
  reader(records: RecordStore): ReadStore {
    return new DocumentsReader(this, new ReadStoreNotes(records));
  }

  writer(records: RecordStore, fence: number): ReadStoreWriter & PositionsWriter {
    return new DocumentsWriter(this, new ReadStoreNotes(records, fence), fence);
  }

  /** Returns the texts of the documents that queries read, by id. */
  texts(name: string): ReadonlyMap<string, string> {
    const documents = [...(this.current(name)?.documents ?? [])];
    return new Map(documents.flatMap(([id, { text }]) => (text === null ? [] : [[id, text] as const])));
  }

  /** Returns the generation that queries read; null before the first one. */
  current(name: string): KeptGeneration | null {
    const collection = this.#collections.get(name);
    return collection?.generations.get(collection.current) ?? null;
  }

  /** Returns the unfinished generation next to the current one. */
  filling(name: string): KeptGeneration | null {
    const current = this.current(name)?.number ?? 0;
    const generations = this.#collections.get(name)?.generations.values() ?? [];
    return [...generations].find(({ number }) => number > current) ?? null;
  }

  /** Refuses writers with an older token from now on. @throws FencedError */
  take(name: string, fence: number): void {
    const collection = this.#collections.get(name);
    if (collection === undefined) return;
    if (collection.fence > fence) throw superseded(name);
    collection.fence = fence;
  }

  /** Begins a generation in place of an unfinished one. @throws FencedError */
  begin(definition: CollectionDefinition, begunAt: number, fence: number): KeptGeneration {
    const { name } = definition;
    const collection = this.#collections.get(name) ?? { fence, last: 0, current: 0, generations: new Map() };
    this.#collections.set(name, collection);
    this.take(name, fence);
    for (const { number, complete } of collection.generations.values())
      if (!complete) collection.generations.delete(number);
    collection.last += 1;
    if (collection.generations.size === 0) collection.current = collection.last;
    const begun = { ...definition, number: collection.last, begunAt, complete: false, documents: new Map() };
    collection.generations.set(begun.number, begun);
    return begun;
  }

  /** Makes a generation the current one. @throws FencedError */
  publish(name: string, number: number, fence: number): void {
    const collection = this.#collections.get(name);
    const published = this.existing({ name, number }, fence);
    if (collection === undefined) throw superseded(name);
    published.complete = true;
    collection.current = number;
    for (const older of collection.generations.keys()) if (older < number) collection.generations.delete(older);
  }

  /** Returns a generation. @throws FencedError if there is a newer writer, or if it was dropped */
  existing({ name, number }: Pick<Generation, 'name' | 'number'>, fence: number): KeptGeneration {
    const collection = this.#collections.get(name);
    const found = collection?.generations.get(number);
    if (collection === undefined || found === undefined || collection.fence > fence) throw superseded(name);
    return found;
  }

  /** Returns where a writer writes that has not asked whether there is a newer one. Nobody reads a dropped generation. */
  documentsOf({ name, number }: Pick<Generation, 'name' | 'number'>): Map<string, KeptDocument> {
    return this.#collections.get(name)?.generations.get(number)?.documents ?? new Map();
  }

  dropOthers(names: ReadonlyArray<string>, fence: number): void {
    for (const [name, collection] of this.#collections)
      if (!names.includes(name) && collection.fence <= fence) this.#collections.delete(name);
  }
}

function superseded(name: string): FencedError {
  return new FencedError(`The read model ${name} is written by another node now.`);
}
