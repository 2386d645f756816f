const countedMs = 10_000;
const maxProjects = 1_000;

interface Counted {
  bytes: number;
  readonly until: number;
}

/**
 * The counted bytes of projects. Counting the bytes of a project reads an index, so they are counted again after ten
 * seconds, and meanwhile this node adds what it writes.
 */
export class CountedBytes {
  readonly #count: (projectId: string) => Promise<number>;
  readonly #known = new Map<string, Counted>();

  constructor(count: (projectId: string) => Promise<number>) {
    this.#count = count;
  }

  async of(projectId: string): Promise<number> {
    const known = this.#known.get(projectId);
    if (known !== undefined && known.until > performance.now()) return known.bytes;
    const bytes = await this.#count(projectId);
    this.#known.delete(projectId);
    this.#known.set(projectId, { bytes, until: performance.now() + countedMs });
    const [oldest] = this.#known.keys();
    if (this.#known.size > maxProjects && oldest !== undefined) this.#known.delete(oldest);
    return bytes;
  }

  /** @param bytes negative for what was removed */
  add(projectId: string, bytes: number): void {
    const known = this.#known.get(projectId);
    if (known !== undefined) known.bytes += bytes;
  }

  forget(projectId: string): void {
    this.#known.delete(projectId);
  }
}
