import { Admission } from '#exchange/admission.ts';
import type {
  AddOutcome,
  Erasure,
  FinishedResponse,
  ResponseName,
  ResponseOutline,
  ResponseStore,
  StoredResponse,
} from '#responses/response-store.ts';
import { StoredResponses } from '#responses/stored-responses.ts';
import { InMemoryProviderCopies } from './in-memory-provider-copies.ts';
import { InMemorySubjectKeys } from './in-memory-subject-keys.ts';

/** A store of responses in memory. */
export class InMemoryResponseStore implements ResponseStore {
  readonly file = null;
  readonly copies = new InMemoryProviderCopies();
  readonly #responses = new Map<string, StoredResponse & { readonly subject: string }>();
  readonly #erasures = new Map<string, Erasure>();
  readonly #subjects = new Map<string, string>();
  #made = 0;

  async add(response: StoredResponse, subject: string): Promise<AddOutcome> {
    const { projectId, id, needs } = response;
    if (this.#subjects.get(projectId) !== subject) return 'erased';
    if (!needs.every((each) => this.#responses.has(`${projectId}/${each}`))) return 'needs-missing';
    const key = `${projectId}/${id}`;
    if (!this.#responses.has(key)) this.#responses.set(key, { ...response, subject });
    return 'stored';
  }

  async finish({ projectId, id, ...finished }: FinishedResponse, subject: string) {
    if (this.#subjects.get(projectId) !== subject) return 'erased';
    const found = this.#responses.get(`${projectId}/${id}`);
    if (found === undefined || found.background === null) return 'before';
    const items = [...new Set([...found.items, ...finished.items])];
    this.#responses.set(`${projectId}/${id}`, { ...found, ...finished, items, background: null });
    return 'stored';
  }

  async find(projectId: string, id: string): Promise<StoredResponse | null> {
    const found = this.#responses.get(`${projectId}/${id}`);
    if (found === undefined) return null;
    const { subject: _, ...response } = found;
    return response;
  }

  async outlines(projectId: string, ids: ReadonlyArray<string>): Promise<ReadonlyArray<ResponseOutline>> {
    const found = ids.flatMap((id) => this.#responses.get(`${projectId}/${id}`) ?? []);
    return found.map((each) => ({ ...outlineOf(each), ancestors: each.id === ids.at(-1) ? each.ancestors : null }));
  }

  async needsOf(projectId: string, ids: ReadonlyArray<string>): Promise<ReadonlyArray<string>> {
    return ids.flatMap((id) => this.#responses.get(`${projectId}/${id}`)?.needs ?? []);
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

  async markDeleted(projectId: string, ids: ReadonlyArray<string>): Promise<void> {
    for (const id of ids) this.change(projectId, id, { isDeleted: true, items: [] });
  }

  async removeUnneeded(projectId: string): Promise<ReadonlyArray<string>> {
    const ids: string[] = [];
    for (let next = this.#unneeded(projectId)[0]; next !== undefined && ids.length < 32; ) {
      ids.push(next.id);
      this.#responses.delete(`${projectId}/${next.id}`);
      next = this.#unneeded(projectId)[0];
    }
    return ids;
  }

  async projectsToClean(limit: number): Promise<ReadonlyArray<string>> {
    const projects = new Set([...this.#responses.values()].map(({ projectId }) => projectId));
    return [...projects].filter((project) => this.#unneeded(project).length > 0).slice(0, limit);
  }

  async storedBefore(time: number, limit: number): Promise<ReadonlyArray<ResponseName>> {
    return [...this.#responses.values()]
      .filter(({ at, isDeleted }) => !isDeleted && at < time)
      .sort((one, other) => one.at - other.at)
      .slice(0, limit)
      .map(({ projectId, id }) => ({ projectId, id }));
  }

  async oldest(projectId: string, limit: number): Promise<ReadonlyArray<ResponseOutline>> {
    return [...this.#responses.values()]
      .filter((each) => !each.isDeleted && each.projectId === projectId)
      .sort((one, other) => one.at - other.at)
      .slice(0, limit)
      .map(outlineOf);
  }

  async bytesOf(projectId: string): Promise<number> {
    return this.#of(projectId).reduce((sum, { bytes }) => sum + bytes, 0);
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

  async hasRoomFor(): Promise<boolean> {
    return true;
  }

  async beginErasure(erasure: Erasure): Promise<void> {
    const { projectId, subject } = erasure;
    if (!this.#erasures.has(subject)) this.#erasures.set(subject, erasure);
    if (this.#subjects.get(projectId) === subject) this.#subjects.delete(projectId);
  }

  async eraseSome({ projectId, subject }: Erasure, after: string): Promise<string | null> {
    const next = [...this.#responses.values()]
      .filter((each) => each.projectId === projectId && each.id > after)
      .sort((one, other) => (one.id < other.id ? -1 : 1))[0];
    if (next?.subject === subject) this.#responses.delete(`${projectId}/${next.id}`);
    return next?.id ?? null;
  }

  async erasuresBefore(time: number, limit: number): Promise<ReadonlyArray<Erasure>> {
    return [...this.#erasures.values()].filter(({ at }) => at < time).slice(0, limit);
  }

  async endErasure({ subject }: Erasure): Promise<void> {
    this.#erasures.delete(subject);
  }

  /** Changes a response as only another release could. */
  change(projectId: string, id: string, changes: Partial<StoredResponse>): void {
    const found = this.#responses.get(`${projectId}/${id}`);
    if (found !== undefined) this.#responses.set(`${projectId}/${id}`, { ...found, ...changes });
  }

  async close(): Promise<void> {
    // Nothing is open.
  }

  #unneeded(projectId: string): ReadonlyArray<StoredResponse> {
    const all = this.#of(projectId);
    const needed = new Set(all.flatMap(({ needs }) => needs));
    return all.filter(({ id, isDeleted }) => isDeleted && !needed.has(id));
  }

  #of(projectId: string): ReadonlyArray<StoredResponse> {
    return [...this.#responses.values()].filter((each) => each.projectId === projectId);
  }
}

function outlineOf(response: StoredResponse & { readonly subject?: string }): ResponseOutline {
  const { content: _, needs: __, items: ___, subject: ____, ...outline } = response;
  return { ...outline, ancestors: null };
}

/** Stored responses in memory. */
export function inMemoryResponses(): StoredResponses {
  return new StoredResponses({
    admission: new Admission(),
    store: new InMemoryResponseStore(),
    keys: new InMemorySubjectKeys(),
    ttlDays: 30,
    quotaBytes: 1e9,
  });
}
