import { randomBytes } from 'node:crypto';
import { type SubjectKeys, subjectKeyBytes } from './subject-keys.ts';

/**
 * The keys of one attempt at a command. The key of a subject that has none is made in memory, and is stored only when
 * the command was accepted. So a refused request makes no key, and neither does a dry run.
 */
export class NewSubjectKeys implements Pick<SubjectKeys, 'obtain' | 'find'> {
  readonly #stored: Pick<SubjectKeys, 'find' | 'adopt'>;
  readonly #made = new Map<string, Uint8Array>();

  constructor(stored: Pick<SubjectKeys, 'find' | 'adopt'>) {
    this.#stored = stored;
  }

  /** Whether a subject's key was made by this attempt and is not stored. */
  has(subject: string): boolean {
    return this.#made.has(subject);
  }

  /** Whether a subject has a stored key: not one that was lost or destroyed. @throws UnavailableError */
  async isStored(subject: string): Promise<boolean> {
    return (await this.#stored.find([subject])).has(subject);
  }

  /** Returns the subject's key, and makes it if there is none. @throws UnavailableError */
  async obtain(subject: string): Promise<Uint8Array> {
    const known = (await this.find([subject])).get(subject);
    if (known !== undefined) return known;
    const key = randomBytes(subjectKeyBytes);
    this.#made.set(subject, key);
    return key;
  }

  /** @throws UnavailableError */
  async find(subjects: ReadonlyArray<string>): Promise<ReadonlyMap<string, Uint8Array>> {
    const made = [...this.#made].filter(([subject]) => subjects.includes(subject));
    return new Map([...(await this.#stored.find(subjects)), ...made]);
  }

  /**
   * Stores the keys that were made.
   * @returns false if another node has made a key of one of the subjects since: what was sealed must be sealed again
   * @throws UnavailableError; Error if the data of a subject was erased
   */
  async store(): Promise<boolean> {
    for (const [subject, key] of this.#made) {
      if (!(await this.#stored.adopt(subject, key))) return false;
      if (!(await this.isStored(subject))) throw new Error(`the personal data of ${subject} was erased`);
    }
    this.#made.clear();
    return true;
  }
}
