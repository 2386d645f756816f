import type { FinishedResponse, ResponseOutline, ResponseStore, StoredResponse } from '#responses/response-store.ts';
import { StoredResponses } from '#responses/stored-responses.ts';
import { InMemoryProviderCopies } from './in-memory-provider-copies.ts';
import { InMemorySubjectKeys } from './in-memory-subject-keys.ts';

/** A store of responses in memory. */
export class InMemoryResponseStore implements ResponseStore {
  readonly copies = new InMemoryProviderCopies();
  readonly #responses = new Map<string, StoredResponse>();
  readonly #subjects = new Map<string, string>();
  #made = 0;

  async add(response: StoredResponse): Promise<boolean> {
    const { projectId, id, needs } = response;
    if (!needs.every((each) => this.#responses.has(`${projectId}/${each}`))) return false;
    const key = `${projectId}/${id}`;
    if (!this.#responses.has(key)) this.#responses.set(key, response);
    return true;
  }

  async finish({ projectId, id, ...finished }: FinishedResponse): Promise<boolean> {
    const found = await this.find(projectId, id);
    if (found === null || found.background === null) return false;
    const items = [...new Set([...found.items, ...finished.items])];
    this.#responses.set(`${projectId}/${id}`, { ...found, ...finished, items, background: null });
    return true;
  }

  async find(projectId: string, id: string): Promise<StoredResponse | null> {
    return this.#responses.get(`${projectId}/${id}`) ?? null;
  }

  async outlines(projectId: string, ids: ReadonlyArray<string>): Promise<ReadonlyArray<ResponseOutline>> {
    const found = ids.flatMap((id) => this.#responses.get(`${projectId}/${id}`) ?? []);
    return found.map((each) => ({ ...outlineOf(each), ancestors: each.id === ids.at(-1) ? each.ancestors : null }));
  }

  async contents(projectId: string, ids: ReadonlyArray<string>): Promise<ReadonlyMap<string, string>> {
    const found = this.#of(projectId).filter(({ id }) => ids.includes(id));
    return new Map(found.map(({ id, content }) => [id, content]));
  }

  async ofItems(
    projectId: string,
    items: ReadonlyArray<string>,
    ids: ReadonlyArray<string>,
  ): Promise<ReadonlyArray<ResponseOutline>> {
    return this.#of(projectId)
      .filter((each) => !each.isDeleted)
      .filter((each) => ids.includes(each.id) || each.items.some((item) => items.includes(item)))
      .map(outlineOf);
  }

  async providersOf(projectId: string, items: ReadonlyArray<string>): Promise<ReadonlyMap<string, string>> {
    const made = this.#of(projectId).filter(({ isDeleted }) => !isDeleted);
    return new Map(
      made.flatMap(({ items: names, provider }) =>
        provider === null ? [] : names.filter((name) => items.includes(name)).map((name) => [name, provider] as const),
      ),
    );
  }

  async isNeeded(projectId: string, id: string, except: ReadonlyArray<string>): Promise<boolean> {
    return this.#of(projectId).some((each) => each.needs.includes(id) && !except.includes(each.id));
  }

  async markDeleted(projectId: string, id: string): Promise<void> {
    const found = await this.find(projectId, id);
    if (found !== null) this.#responses.set(`${projectId}/${id}`, { ...found, isDeleted: true, items: [] });
  }

  async remove(projectId: string, ids: ReadonlyArray<string>): Promise<boolean> {
    const others = this.#of(projectId).filter(({ id }) => !ids.includes(id));
    if (others.some(({ needs }) => needs.some((id) => ids.includes(id)))) return false;
    for (const id of ids) this.#responses.delete(`${projectId}/${id}`);
    return true;
  }

  async oldest(projectId: string, limit: number): Promise<ReadonlyArray<ResponseOutline>> {
    return [...this.#responses.values()]
      .filter((each) => !each.isDeleted && each.projectId === projectId)
      .sort((one, other) => one.at - other.at)
      .slice(0, limit)
      .map(outlineOf);
  }

  async bytesByProject(): Promise<ReadonlyMap<string, number>> {
    const sums = new Map<string, number>();
    for (const { projectId, bytes } of this.#responses.values())
      sums.set(projectId, (sums.get(projectId) ?? 0) + bytes);
    return sums;
  }

  async amountOf(projectId: string) {
    const all = this.#of(projectId);
    const shown = all.filter(({ isDeleted }) => !isDeleted);
    return {
      count: shown.length,
      bytes: all.reduce((sum, { bytes }) => sum + bytes, 0),
      oldestAt: shown.length === 0 ? null : Math.min(...shown.map(({ at }) => at)),
    };
  }

  async subjectOf(projectId: string): Promise<string> {
    this.#made += 1;
    const subject = this.#subjects.get(projectId) ?? `subject-${this.#made}`;
    this.#subjects.set(projectId, subject);
    return subject;
  }

  async forgetSubject(projectId: string, subject: string): Promise<void> {
    if (this.#subjects.get(projectId) === subject) this.#subjects.delete(projectId);
  }

  async removeProject(projectId: string): Promise<void> {
    for (const { id } of this.#of(projectId)) this.#responses.delete(`${projectId}/${id}`);
  }

  /** Changes a response as only another release could. */
  change(projectId: string, id: string, changes: Partial<StoredResponse>): void {
    const found = this.#responses.get(`${projectId}/${id}`);
    if (found !== undefined) this.#responses.set(`${projectId}/${id}`, { ...found, ...changes });
  }

  async close(): Promise<void> {
    // Nothing is open.
  }

  #of(projectId: string): ReadonlyArray<StoredResponse> {
    return [...this.#responses.values()].filter((each) => each.projectId === projectId);
  }
}

function outlineOf({ content: _, items: __, ...outline }: StoredResponse): ResponseOutline {
  return { ...outline, ancestors: null };
}

/** Stored responses in memory. */
export function inMemoryResponses(): StoredResponses {
  return new StoredResponses({
    store: new InMemoryResponseStore(),
    keys: new InMemorySubjectKeys(),
    ttlDays: 30,
    quotaBytes: 1e9,
  });
}
