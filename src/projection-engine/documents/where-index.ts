import { indexedField } from '#read-store/indexable-fields.ts';
import type { DocumentValue, Where } from '#read-store/read-store.ts';
import type { BufferedDocument } from './buffered-document.ts';

interface FieldsIndex {
  readonly fields: ReadonlyArray<string>;
  readonly buckets: Map<string, Set<BufferedDocument>>;
  /** The values by which each entry is found, so that it can be removed without parsing it. */
  readonly bucketsOfEntries: Map<BufferedDocument, string>;
  /** The position of the last removal of each of the removed values, which the store does not have yet. */
  readonly removed: Map<string, number>;
}

/** Indexes documents in memory by the fields of removals. It costs nothing until the first removal. */
export class WhereIndex {
  readonly #byFields = new Map<string, FieldsIndex>();

  /** @param all every entry, which is read once for each new set of fields */
  matching(where: Where, all: Iterable<BufferedDocument>): ReadonlySet<BufferedDocument> {
    const fields = fieldsOf(where);
    const name = nameOf(fields);
    if (!this.#byFields.has(name)) {
      this.#byFields.set(name, { fields, buckets: new Map(), bucketsOfEntries: new Map(), removed: new Map() });
      for (const entry of all) this.#addTo(name, entry);
    }
    return new Set(this.#byFields.get(name)?.buckets.get(bucketOf(where, fields)));
  }

  /** Notes a removal after `matching` was called for it. */
  noteRemoval(where: Where, position: number): void {
    const index = this.#byFields.get(nameOf(fieldsOf(where)));
    index?.removed.set(bucketOf(where, index.fields), position);
  }

  forgetRemovals(): void {
    for (const { removed } of this.#byFields.values()) removed.clear();
  }

  clear(): void {
    this.#byFields.clear();
  }

  /** True if a recorded removal matches a document that was last touched at the position. */
  wasRemoved(value: DocumentValue, position: number): boolean {
    for (const { fields, removed } of this.#byFields.values()) {
      if ((removed.get(bucketOf(value, fields)) ?? 0) > position) return true;
    }
    return false;
  }

  change(entry: BufferedDocument, value: DocumentValue | null): void {
    this.remove(entry);
    entry.value = value;
    this.add(entry);
  }

  add(entry: BufferedDocument): void {
    if (this.#byFields.size === 0) return;
    for (const name of this.#byFields.keys()) this.#addTo(name, entry);
  }

  remove(entry: BufferedDocument): void {
    for (const { buckets, bucketsOfEntries } of this.#byFields.values()) {
      const bucket = bucketsOfEntries.get(entry);
      if (bucket === undefined) continue;
      bucketsOfEntries.delete(entry);
      const entries = buckets.get(bucket);
      entries?.delete(entry);
      if (entries?.size === 0) buckets.delete(bucket);
    }
  }

  #addTo(name: string, entry: BufferedDocument): void {
    const index = this.#byFields.get(name);
    const value = entry.peek();
    if (index === undefined || value === null) return;
    const bucket = bucketOf(value, index.fields);
    index.bucketsOfEntries.set(entry, bucket);
    const entries = index.buckets.get(bucket);
    if (entries === undefined) index.buckets.set(bucket, new Set([entry]));
    else entries.add(entry);
  }
}

function fieldsOf(where: Where): ReadonlyArray<string> {
  return Object.keys(where).sort();
}

function nameOf(fields: ReadonlyArray<string>): string {
  return JSON.stringify(fields);
}

function bucketOf(value: DocumentValue, fields: ReadonlyArray<string>): string {
  return JSON.stringify(fields.map((field) => indexedField(value, field)));
}
