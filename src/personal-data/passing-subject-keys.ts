import { randomBytes } from 'node:crypto';
import { type SubjectKeys, subjectKeyBytes } from './subject-keys.ts';

/** The keys of a dry run. They exist only in memory, for as long as the command runs. */
export class PassingSubjectKeys implements Pick<SubjectKeys, 'obtain' | 'find' | 'destroy'> {
  readonly #keys = new Map<string, Uint8Array>();

  async obtain(subject: string): Promise<Uint8Array> {
    const key = this.#keys.get(subject) ?? randomBytes(subjectKeyBytes);
    this.#keys.set(subject, key);
    return key;
  }

  async find(subjects: ReadonlyArray<string>): Promise<ReadonlyMap<string, Uint8Array>> {
    return new Map([...this.#keys].filter(([subject]) => subjects.includes(subject)));
  }

  async destroy(subject: string): Promise<void> {
    this.#keys.delete(subject);
  }
}
