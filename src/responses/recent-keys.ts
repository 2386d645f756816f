import type { SubjectKeys } from '#personal-data/subject-keys.ts';
import type { ResponseStore } from './response-store.ts';

const maxProjects = 1_000;
const keptMs = 10_000;

/** The key is null after it was destroyed. */
export interface ProjectKey {
  readonly subject: string;
  readonly key: Uint8Array | null;
}

/** What a project's responses are sealed for until they are erased: each erasure ends a generation. */
export interface ProjectGeneration {
  readonly projectId: string;
  readonly subject: string;
}

interface KeptKey extends ProjectKey {
  readonly until: number;
}

export interface RecentKeysOptions {
  readonly store: Pick<ResponseStore, 'subjectOf' | 'beginErasure'>;
  readonly keys: Pick<SubjectKeys, 'obtain'>;
  /** The time in ms. */
  readonly now: () => number;
}

/**
 * The keys that seal the responses of projects. Each is kept in memory for ten seconds, because every turn of a
 * conversation needs the same one. So a key that another node destroys is forgotten after that time, or when a call
 * begins.
 */
export class RecentKeys {
  readonly #options: RecentKeysOptions;
  readonly #kept = new Map<string, KeptKey>();

  constructor(options: RecentKeysOptions) {
    this.#options = options;
  }

  /** The key of a project, which is made if there is none. @throws UnavailableError */
  async keyOf(projectId: string): Promise<ProjectKey> {
    const kept = this.#recent(projectId);
    if (kept !== null) return kept;
    return this.#keep(projectId, await this.#options.store.subjectOf(projectId));
  }

  /** The generation as it is now, whatever is in memory. @throws UnavailableError */
  async generationOf(projectId: string): Promise<ProjectGeneration> {
    const { store, now } = this.#options;
    const subject = await store.subjectOf(projectId);
    const kept = this.#recent(projectId);
    const { key } = kept?.subject === subject ? kept : await this.#keep(projectId, subject);
    if (key !== null) return { projectId, subject };
    // An erasure was interrupted after it had destroyed the key.
    await store.beginErasure({ projectId, subject, at: now() });
    return { projectId, subject: await store.subjectOf(projectId) };
  }

  /** The key; null after the end of the generation. @throws UnavailableError */
  async keyIn({ projectId, subject }: ProjectGeneration): Promise<Uint8Array | null> {
    const kept = this.#recent(projectId);
    return kept?.subject === subject ? kept.key : this.#options.keys.obtain(subject);
  }

  forget(projectId: string): void {
    this.#kept.delete(projectId);
  }

  #recent(projectId: string): KeptKey | null {
    const kept = this.#kept.get(projectId);
    return kept !== undefined && kept.until > this.#options.now() ? kept : null;
  }

  async #keep(projectId: string, subject: string): Promise<ProjectKey> {
    const { keys, now } = this.#options;
    const made = { subject, key: await keys.obtain(subject), until: now() + keptMs };
    this.#kept.delete(projectId);
    if (made.key !== null) this.#kept.set(projectId, made);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > maxProjects && oldest !== undefined) this.#kept.delete(oldest);
    return made;
  }
}
