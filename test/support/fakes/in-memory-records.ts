import type { RecordKind, RecordStore, RecordWriteOptions } from '#records/record-store.ts';
import { FencedError } from '#shared/errors/fenced-error.ts';
import type { Json } from '#shared/json/json.ts';

/** Small records in memory that the nodes of a test share. */
export class InMemoryRecords implements RecordStore {
  readonly #values = new Map<RecordKind, Map<string, Json>>();
  readonly #fences = new Map<RecordKind, number>();
  /** Called before each write. It may fail or wait. */
  beforePut: (entries: ReadonlyMap<string, Json>) => Promise<void> = async () => undefined;
  /** The number of writes that have ended. */
  puts = 0;

  async get(kind: RecordKind, key: string): Promise<Json | null> {
    return this.#of(kind).get(key) ?? null;
  }

  async all(kind: RecordKind, keys?: ReadonlyArray<string>): Promise<ReadonlyMap<string, Json>> {
    return new Map([...this.#of(kind)].filter(([key]) => keys?.includes(key) ?? true));
  }

  async take(kind: RecordKind, fence: number): Promise<void> {
    this.#check(kind, fence);
    this.#fences.set(kind, fence);
  }

  async put(kind: RecordKind, entries: ReadonlyMap<string, Json>, { fence }: RecordWriteOptions = {}): Promise<void> {
    await this.beforePut(entries);
    this.#check(kind, fence);
    for (const [key, value] of entries) this.#of(kind).set(key, value);
    this.puts += 1;
  }

  async delete(kind: RecordKind, keys: ReadonlyArray<string>, { fence }: RecordWriteOptions = {}): Promise<void> {
    this.#check(kind, fence);
    for (const key of keys) this.#of(kind).delete(key);
  }

  async close(): Promise<void> {}

  #of(kind: RecordKind): Map<string, Json> {
    const values = this.#values.get(kind) ?? new Map<string, Json>();
    this.#values.set(kind, values);
    return values;
  }

  #check(kind: RecordKind, fence: number | undefined): void {
    if (fence !== undefined && fence < (this.#fences.get(kind) ?? 0)) throw new FencedError('A newer term has begun.');
  }
}
