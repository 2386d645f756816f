import { randomBytes } from 'node:crypto';
import { type SubjectKeys, subjectKeyBytes } from '#personal-data/subject-keys.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';

/** Subject keys in memory. Stores with the same map share their keys. */
export class InMemorySubjectKeys implements SubjectKeys {
  readonly secrets: Map<string, Uint8Array | null>;
  #closed = false;

  constructor(secrets = new Map<string, Uint8Array | null>()) {
    this.secrets = secrets;
  }

  async obtain(subject: string): Promise<Uint8Array | null> {
    this.#mustBeOpen();
    if (!this.secrets.has(subject)) this.secrets.set(subject, new Uint8Array(randomBytes(subjectKeyBytes)));
    return this.secrets.get(subject) ?? null;
  }

  async find(subjects: ReadonlyArray<string>): Promise<ReadonlyMap<string, Uint8Array>> {
    this.#mustBeOpen();
    const found = new Map<string, Uint8Array>();
    for (const subject of subjects) {
      const secret = this.secrets.get(subject);
      if (secret) found.set(subject, secret);
    }
    return found;
  }

  async adopt(subject: string, key: Uint8Array): Promise<boolean> {
    this.#mustBeOpen();
    if (!this.secrets.has(subject)) this.secrets.set(subject, new Uint8Array(key));
    const kept = this.secrets.get(subject) ?? null;
    return kept === null || Buffer.from(kept).equals(key);
  }

  async page(after: string, limit: number): Promise<ReadonlyArray<readonly [string, Uint8Array | null]>> {
    this.#mustBeOpen();
    return [...this.secrets]
      .filter(([subject]) => subject > after)
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .slice(0, limit);
  }

  async destroy(subject: string): Promise<void> {
    this.#mustBeOpen();
    this.secrets.set(subject, null);
  }

  async close(): Promise<void> {
    this.#closed = true;
  }

  #mustBeOpen(): void {
    if (this.#closed) throw new UnavailableError('The subject keys are closed.');
  }
}
