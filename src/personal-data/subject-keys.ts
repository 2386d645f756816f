/** Bytes of a key: AES-256. */
export const subjectKeyBytes = 32;

/**
 * The port behind which the keys of personal data are kept: one random key for each subject, outside the log, so that
 * destroying it erases what is encrypted in the log for good. Nobody keeps a key longer than it uses it. One contract
 * suite (`test/contract/subject-keys.ts`) holds every adapter to it.
 */
export interface SubjectKeys {
  /**
   * The subject's key, made when it never had one; durable before it is given, so that what was encrypted stays
   * readable. Null once it was destroyed: no other is ever made.
   * @throws UnavailableError
   */
  obtain(subject: string): Promise<Uint8Array | null>;
  /** The keys of those subjects that have one. @throws UnavailableError */
  find(subjects: ReadonlyArray<string>): Promise<ReadonlyMap<string, Uint8Array>>;
  /** Destroys the subject's key for good, whether or not it had one. Durable; may be called again. @throws UnavailableError */
  destroy(subject: string): Promise<void>;
  /**
   * Takes over a key from another store of keys.
   * @returns false where the subject has another key here, which stays; what was destroyed here stays destroyed
   * @throws UnavailableError
   */
  adopt(subject: string, key: Uint8Array): Promise<boolean>;
  /**
   * Subjects with their keys, null where it was destroyed, in the order of their names.
   * @param after the name after which to begin; empty for the first
   * @throws UnavailableError
   */
  page(after: string, limit: number): Promise<ReadonlyArray<readonly [subject: string, key: Uint8Array | null]>>;
  close(): Promise<void>;
}
