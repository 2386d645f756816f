import type { ProviderCopies, ProviderCopy } from '#responses/provider-copies.ts';

/** A list of providers' copies in memory. */
export class InMemoryProviderCopies implements ProviderCopies {
  readonly #copies = new Map<string, ProviderCopy>();

  /** All copies, in the order in which they were added. */
  get all(): ReadonlyArray<ProviderCopy> {
    return [...this.#copies.values()];
  }

  async add(copy: ProviderCopy): Promise<void> {
    const key = keyOf(copy.projectId, copy.id);
    if (!this.#copies.has(key)) this.#copies.set(key, copy);
  }

  async count(projectId: string, id: string): Promise<boolean> {
    const isFirst = this.#copies.get(keyOf(projectId, id))?.isCounted === false;
    this.#change(projectId, id, { isCounted: true });
    return isFirst;
  }

  async due(time: number, limit: number): Promise<ReadonlyArray<ProviderCopy>> {
    return this.all
      .filter(({ checkAt }) => checkAt <= time)
      .sort((one, other) => one.checkAt - other.checkAt)
      .slice(0, limit);
  }

  async postpone(projectId: string, id: string, next: Pick<ProviderCopy, 'checkAt' | 'failures'>): Promise<void> {
    this.#change(projectId, id, next);
  }

  async makeDue(projectId: string, time: number): Promise<void> {
    for (const { projectId: owner, id, checkAt } of this.all)
      if (owner === projectId && checkAt > time) this.#change(projectId, id, { checkAt: time });
  }

  async remove(projectId: string, id: string): Promise<void> {
    this.#copies.delete(keyOf(projectId, id));
  }

  #change(projectId: string, id: string, change: Partial<ProviderCopy>): void {
    const copy = this.#copies.get(keyOf(projectId, id));
    if (copy !== undefined) this.#copies.set(keyOf(projectId, id), { ...copy, ...change });
  }
}

function keyOf(projectId: string, id: string): string {
  return `${projectId}/${id}`;
}
