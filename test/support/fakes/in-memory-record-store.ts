import type {
  RecordKey,
  RecordKind,
  RecordPutOptions,
  RecordRange,
  RecordStore,
  RecordWriteOptions,
} from '#records/record-store.ts';
import { FencedError } from '#shared/errors/fenced-error.ts';
import { EncodedJson, jsonTextOf } from '#shared/json/encoded-json.ts';
import type { Json } from '#shared/json/json.ts';

const byKey = ([one]: readonly [string, Json], [other]: readonly [string, Json]) => (one < other ? -1 : 1);

/** Records in memory. They stay when it is closed. */
export class InMemoryRecordStore implements RecordStore {
  readonly #kinds = new Map<RecordKind, Map<string, string>>();
  readonly #fences = new Map<RecordKind, number>();
  /** Called before each write of values. It may fail or wait. */
  beforePut: (entries: ReadonlyMap<string, Json | EncodedJson>) => Promise<void> = async () => undefined;
  /** The number of writes of values that have ended. */
  puts = 0;

  async get(kind: RecordKind, key: string): Promise<Json | null> {
    const text = this.#of(kind).get(key);
    return text === undefined ? null : JSON.parse(text);
  }

  async encoded(kind: RecordKind, key: string): Promise<EncodedJson | null> {
    const text = this.#of(kind).get(key);
    return text === undefined ? null : new EncodedJson(text);
  }

  async read(places: ReadonlyArray<RecordKey>): Promise<ReadonlyArray<Json | null>> {
    return Promise.all(places.map(({ kind, key }) => this.get(kind, key)));
  }

  async all(kind: RecordKind, keys?: ReadonlyArray<string>): Promise<ReadonlyMap<string, Json>> {
    const found = [...this.#of(kind)].filter(([key]) => keys?.includes(key) ?? true);
    return new Map(found.map(([key, text]) => [key, JSON.parse(text)]));
  }

  async page(kind: RecordKind, { after = '', before, limit }: RecordRange): Promise<ReadonlyMap<string, Json>> {
    const keys = [...this.#of(kind).keys()].filter((key) => key > after && (before === undefined || key < before));
    return this.all(kind, keys.sort().slice(0, limit)).then((all) => new Map([...all].sort(byKey)));
  }

  async take(kind: RecordKind, fence: number): Promise<void> {
    if (fence < (this.#fences.get(kind) ?? 0)) throw new FencedError(`The records of ${kind} have a newer token.`);
    this.#fences.set(kind, fence);
  }

  async put(
    kind: RecordKind,
    entries: ReadonlyMap<string, Json | EncodedJson>,
    options: RecordPutOptions = {},
  ): Promise<void> {
    await this.beforePut(entries);
    if (options.fence !== undefined) await this.take(kind, options.fence);
    for (const [key, value] of entries) {
      const [text, stored] = [jsonTextOf(value), this.#of(kind).get(key)];
      const stays = options.keep === 'existing' || (options.keep === 'greater' && (stored ?? '') >= text);
      if (stored === undefined || !stays) this.#of(kind).set(key, text);
    }
    this.puts += 1;
  }

  async delete(kind: RecordKind, keys: ReadonlyArray<string>, { fence }: RecordWriteOptions = {}): Promise<void> {
    if (fence !== undefined) await this.take(kind, fence);
    for (const key of keys) this.#of(kind).delete(key);
  }

  async close(): Promise<void> {}

  #of(kind: RecordKind): Map<string, string> {
    const known = this.#kinds.get(kind) ?? new Map<string, string>();
    this.#kinds.set(kind, known);
    return known;
  }
}
