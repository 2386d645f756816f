import type { SubjectKeys } from '#personal-data/subject-keys.ts';

const maxKeys = 1_000;
const keptMs = 10_000;

interface KeptKey {
  readonly key: Uint8Array;
  readonly until: number;
}

/**
 * Keeps keys in memory for ten seconds, because every turn of a conversation needs the same one. A key that another node
 * destroys is forgotten after that time.
 */
export class RecentKeys implements Pick<SubjectKeys, 'obtain' | 'find'> {
  readonly #keys: Pick<SubjectKeys, 'obtain' | 'find'>;
  readonly #now: () => number;
  readonly #kept = new Map<string, KeptKey>();

  /** @param now in ms */
  constructor(keys: Pick<SubjectKeys, 'obtain' | 'find'>, now: () => number) {
    this.#keys = keys;
    this.#now = now;
  }

  async obtain(subject: string): Promise<Uint8Array | null> {
    const kept = this.#keyOf(subject);
    if (kept !== null) return kept;
    const key = await this.#keys.obtain(subject);
    if (key !== null) this.#keep(subject, key);
    return key;
  }

  async find(subjects: ReadonlyArray<string>): Promise<ReadonlyMap<string, Uint8Array>> {
    const missing = subjects.filter((subject) => this.#keyOf(subject) === null);
    const found = missing.length === 0 ? new Map<string, Uint8Array>() : await this.#keys.find(missing);
    for (const [subject, key] of found) this.#keep(subject, key);
    return new Map(
      subjects.flatMap((subject) => {
        const key = this.#keyOf(subject);
        return key === null ? [] : [[subject, key] as const];
      }),
    );
  }

  forget(subject: string): void {
    this.#kept.delete(subject);
  }

  #keyOf(subject: string): Uint8Array | null {
    const kept = this.#kept.get(subject);
    return kept === undefined || kept.until <= this.#now() ? null : kept.key;
  }

  #keep(subject: string, key: Uint8Array): void {
    this.#kept.delete(subject);
    this.#kept.set(subject, { key, until: this.#now() + keptMs });
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > maxKeys && oldest !== undefined) this.#kept.delete(oldest);
  }
}
