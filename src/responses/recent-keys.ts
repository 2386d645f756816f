import type { SubjectKeys } from '#personal-data/subject-keys.ts';
import type { ResponseStore } from './response-store.ts';

const maxProjects = 1_000;
const keptMs = 10_000;

/** The subject of a project, and its key; null after the key was destroyed. */
export interface ProjectKey {
  readonly subject: string;
  readonly key: Uint8Array | null;
}

interface KeptKey extends ProjectKey {
  readonly until: number;
}

export interface RecentKeysOptions {
  readonly store: Pick<ResponseStore, 'subjectOf'>;
  readonly keys: Pick<SubjectKeys, 'obtain'>;
  /** In ms. */
  readonly now: () => number;
}

/**
 * The keys that seal the responses of projects. Each is kept in memory for ten seconds, because every turn of a
 * conversation needs the same one. So a key that another node destroys is forgotten after that time.
 */
export class RecentKeys {
  readonly #options: RecentKeysOptions;
  readonly #kept = new Map<string, KeptKey>();

  constructor(options: RecentKeysOptions) {
    this.#options = options;
  }

  /** Returns the key of a project, which is made if the project has none. @throws UnavailableError */
  async keyOf(projectId: string): Promise<ProjectKey> {
    const { store, keys, now } = this.#options;
    const kept = this.#kept.get(projectId);
    if (kept !== undefined && kept.until > now()) return kept;
    const subject = await store.subjectOf(projectId);
    const made = { subject, key: await keys.obtain(subject), until: now() + keptMs };
    this.#kept.delete(projectId);
    if (made.key !== null) this.#kept.set(projectId, made);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > maxProjects && oldest !== undefined) this.#kept.delete(oldest);
    return made;
  }

  forget(projectId: string): void {
    this.#kept.delete(projectId);
  }
}
