import type {
  RecordKey,
  RecordKind,
  RecordPutOptions,
  RecordRange,
  RecordStore,
  RecordWriteOptions,
} from '#records/record-store.ts';
import { FencedError } from '#shared/errors/fenced-error.ts';
import { EncodedJson, type Json, jsonTextOf } from '#shared/json/json.ts';

interface KeptRecord {
  readonly text: string;
  /** The newest token that has written it. */
  readonly fence: number;
}

/**
 * Records in memory. They stay when it is closed. As on MongoDB each record has the token of its last writer, a write with
 * an older one may have stored some values before it is refused, and only `take` raises the token of a whole kind.
 */
export class InMemoryRecordStore implements RecordStore {
  readonly #kinds = new Map<RecordKind, Map<string, KeptRecord>>();
  readonly #fences = new Map<RecordKind, number>();
  /** Called before each write of values. It may fail or wait. */
  beforePut: (entries: ReadonlyMap<string, Json | EncodedJson>) => Promise<void> = async () => undefined;
  /** The number of writes of values that have ended. */
  puts = 0;

  async get(kind: RecordKind, key: string): Promise<Json | null> {
    const kept = this.#of(kind).get(key);
    return kept === undefined ? null : JSON.parse(kept.text);
  }

  async encoded(kind: RecordKind, key: string): Promise<EncodedJson | null> {
    const kept = this.#of(kind).get(key);
    return kept === undefined ? null : new EncodedJson(kept.text);
  }

  async read(places: ReadonlyArray<RecordKey>): Promise<ReadonlyArray<Json | null>> {
    return Promise.all(places.map(({ kind, key }) => this.get(kind, key)));
  }

  async all(kind: RecordKind, keys?: ReadonlyArray<string>): Promise<ReadonlyMap<string, Json>> {
    const found = [...this.#of(kind)].filter(([key]) => keys?.includes(key) ?? true);
    return new Map(found.map(([key, { text }]) => [key, JSON.parse(text)]));
  }

  async page(kind: RecordKind, { after = '', before, limit }: RecordRange): Promise<ReadonlyMap<string, Json>> {
    const isAsked = (key: string) => byBytes(key, after) > 0 && (before === undefined || byBytes(key, before) < 0);
    const keys = [...this.#of(kind).keys()].filter(isAsked).sort(byBytes).slice(0, limit);
    const all = await this.all(kind, keys);
    return new Map(keys.map((key) => [key, all.get(key) as Json]));
  }

  async take(kind: RecordKind, fence: number): Promise<void> {
    if (fence < this.#fenceOf(kind)) throw superseded(kind);
    this.#fences.set(kind, fence);
    for (const [key, kept] of this.#of(kind)) if (kept.fence < fence) this.#of(kind).set(key, { ...kept, fence });
  }

  async put(
    kind: RecordKind,
    entries: ReadonlyMap<string, Json | EncodedJson>,
    { fence, keep }: RecordPutOptions = {},
  ): Promise<void> {
    await this.beforePut(entries);
    let isRefused = false;
    for (const [key, value] of entries) {
      const [text, stored] = [jsonTextOf(value), this.#of(kind).get(key)];
      const stays = keep === 'existing' || (keep === 'greater' && (stored?.text ?? '') >= text);
      if (stored !== undefined && stays) continue;
      if (fence !== undefined && fence < (stored?.fence ?? this.#fenceOf(kind))) isRefused = true;
      else this.#of(kind).set(key, { text, fence: fence ?? stored?.fence ?? 0 });
    }
    this.puts += 1;
    if (isRefused) throw superseded(kind);
  }

  async delete(kind: RecordKind, keys: ReadonlyArray<string>, { fence }: RecordWriteOptions = {}): Promise<void> {
    const records = this.#of(kind);
    for (const key of keys) if ((records.get(key)?.fence ?? 0) <= (fence ?? Infinity)) records.delete(key);
    if (fence === undefined || keys.length === 0) return;
    if (fence < this.#fenceOf(kind) || keys.some((key) => records.has(key))) throw superseded(kind);
  }

  async close(): Promise<void> {}

  #fenceOf(kind: RecordKind): number {
    return this.#fences.get(kind) ?? 0;
  }

  #of(kind: RecordKind): Map<string, KeptRecord> {
    const known = this.#kinds.get(kind) ?? new Map<string, KeptRecord>();
    this.#kinds.set(kind, known);
    return known;
  }
}

function byBytes(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
}

function superseded(kind: RecordKind): FencedError {
  return new FencedError(`The records of ${kind} have a newer token.`);
}
