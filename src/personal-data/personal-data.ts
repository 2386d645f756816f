import { createHmac, randomBytes } from 'node:crypto';
import { erasedText, type PersonalText, type SealedText } from '#domain/shared/personal-data.ts';
import type { Logger } from '#shared/logging/logger.ts';
import { openText, sealText } from './sealed-text.ts';
import { type SubjectKeys, subjectKeyBytes } from './subject-keys.ts';

/** The field is the name with which the text was sealed. */
export type PersonalReader = (subject: string, field: string, text: PersonalText) => string;

/** Replaces the keyed hash of an input whose subject's data was erased. */
export const erasedHash = '';

/** Maximum subjects whose unreadable texts are logged, so that a lost store of keys does not fill the log. */
const maxLogged = 100;

/** Encrypts and decrypts personal texts, with a separate key for each subject. */
export class PersonalTexts {
  readonly #keys: Pick<SubjectKeys, 'obtain' | 'find'>;
  readonly #report: (subject: string) => void;

  /** @param report gets the subject of a text that its key cannot open */
  constructor(keys: Pick<SubjectKeys, 'obtain' | 'find'>, report: (subject: string) => void) {
    this.#keys = keys;
    this.#report = report;
  }

  /**
   * Encrypts texts of a subject. Each is bound to the subject and its field, and cannot be decrypted in another place.
   * @throws UnavailableError; Error if the subject's data was erased
   */
  async seal<Field extends string>(
    subject: string,
    texts: Readonly<Record<Field, string>>,
  ): Promise<Readonly<Record<Field, SealedText>>> {
    const key = await this.#keys.obtain(subject);
    if (key === null) throw new Error(`the personal data of ${subject} was erased`);
    const sealed = Object.entries<string>(texts).map(([field, text]) => [
      field,
      sealText(key, { subject, field }, text),
    ]);
    return Object.fromEntries(sealed) as Record<Field, SealedText>;
  }

  /**
   * Fetches keys, and returns a function that decrypts texts with them. A text without a key reads as erased, and so
   * does a text that its key cannot open, because one record must not hide all others.
   * @param subjects whose texts will be read
   * @throws UnavailableError
   */
  async readerOf(subjects: ReadonlyArray<string>): Promise<PersonalReader> {
    const keys = subjects.length === 0 ? new Map<string, Uint8Array>() : await this.#keys.find(subjects);
    return (subject, field, text) => {
      if (typeof text === 'string') return text;
      const key = keys.get(subject);
      if (key === undefined) return erasedText;
      const opened = openText(key, { subject, field }, text);
      if (opened === null) this.#report(subject);
      return opened ?? erasedText;
    };
  }

  /**
   * Returns a hash that recognizes the same input as long as the subject's data exists. It is keyed, because a plain
   * hash of a name and an address could be found by trying.
   * @returns hex; `erasedHash` after the subject's data was erased
   * @throws UnavailableError
   */
  async keyedHash(subject: string, input: string): Promise<string> {
    const key = await this.#keys.obtain(subject);
    return key === null ? erasedHash : createHmac('sha256', key).update(input).digest('hex');
  }
}

export class PersonalData extends PersonalTexts {
  readonly #stored: Pick<SubjectKeys, 'find' | 'adopt' | 'destroy'>;
  readonly #reportOnce: (subject: string) => void;

  /** @param log receives a line for each subject with a text that its key cannot open */
  constructor(
    keys: Pick<SubjectKeys, 'obtain' | 'find' | 'adopt' | 'destroy'>,
    log: Pick<Logger, 'error'> | null = null,
  ) {
    const report = reporterOf(log);
    super(keys, report);
    this.#stored = keys;
    this.#reportOnce = report;
  }

  beginAttempt(): { readonly newKeys: NewSubjectKeys; readonly personalTexts: PersonalTexts } {
    const newKeys = new NewSubjectKeys(this.#stored);
    return { newKeys, personalTexts: new PersonalTexts(newKeys, this.#reportOnce) };
  }

  /** Erases the personal data permanently. It may be called again. @throws UnavailableError */
  erase(subject: string): Promise<void> {
    return this.#stored.destroy(subject);
  }
}

/** Logs each subject once. */
function reporterOf(log: Pick<Logger, 'error'> | null): (subject: string) => void {
  const logged = new Set<string>();
  return (subject) => {
    if (logged.has(subject) || logged.size >= maxLogged) return;
    logged.add(subject);
    log?.error({ subject }, 'The key of a subject cannot open its personal data, which reads as erased');
  };
}

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

  /** True if this attempt has made the key, and it is not stored. */
  has(subject: string): boolean {
    return this.#made.has(subject);
  }

  /** False for a key that was lost or destroyed. @throws UnavailableError */
  async isStored(subject: string): Promise<boolean> {
    return (await this.#stored.find([subject])).has(subject);
  }

  /** Makes the key if there is none. @throws UnavailableError */
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
