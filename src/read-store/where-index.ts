import type { FoldEntry } from '#read-store/fold.ts';
import type { DocumentValue, Where } from '#read-store/read-store.ts';

/** The value of a document's own field as an index sees it: what is absent is null. */
export function indexedField(value: DocumentValue, field: string): unknown {
  return Object.hasOwn(value, field) ? ((value as Readonly<Record<string, unknown>>)[field] ?? null) : null;
}

/** The entries of a fold by the fields that removals have asked for; it costs nothing until one does. */
export class WhereIndex {
  /** By the fields' names: those fields, and the entries by the fields' values. */
  readonly #byFields = new Map<
    string,
    { readonly fields: ReadonlyArray<string>; readonly buckets: Map<string, Set<FoldEntry>> }
  >();

  /** The entries that fit. @param all every entry of the fold, read once for each new set of fields */
  matching(where: Where, all: Iterable<FoldEntry>): ReadonlySet<FoldEntry> {
    const fields = Object.keys(where).sort();
    const name = JSON.stringify(fields);
    if (!this.#byFields.has(name)) {
      this.#byFields.set(name, { fields, buckets: new Map() });
      for (const entry of all) this.#addTo(name, entry);
    }
    return new Set(this.#byFields.get(name)?.buckets.get(bucketOf(where, fields)));
  }

  add(entry: FoldEntry): void {
    for (const name of this.#byFields.keys()) this.#addTo(name, entry);
  }

  remove(entry: FoldEntry): void {
    if (entry.value === null) return;
    for (const { fields, buckets } of this.#byFields.values()) {
      const bucket = bucketOf(entry.value, fields);
      const entries = buckets.get(bucket);
      entries?.delete(entry);
      if (entries?.size === 0) buckets.delete(bucket);
    }
  }

  #addTo(name: string, entry: FoldEntry): void {
    const index = this.#byFields.get(name);
    if (index === undefined || entry.value === null) return;
    const bucket = bucketOf(entry.value, index.fields);
    const entries = index.buckets.get(bucket);
    if (entries === undefined) index.buckets.set(bucket, new Set([entry]));
    else entries.add(entry);
  }
}

function bucketOf(value: DocumentValue, fields: ReadonlyArray<string>): string {
  return JSON.stringify(fields.map((field) => indexedField(value, field)));
}
