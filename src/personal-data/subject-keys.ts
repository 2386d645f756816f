/** The length of a key of AES-256. */
export const subjectKeyBytes = 32;

/**
 * The port for the keys of personal data: one random key for each subject, outside the log. To destroy a key
 * permanently erases what is encrypted with it in the log. No caller keeps a key longer than it needs it. One contract suite
 * (`test/contract/subject-keys.ts`) tests every adapter.
 */
export interface SubjectKeys {
  /**
   * Returns the subject's key, and creates it if the subject never had one. The key is durable before it is returned,
   * so that encrypted texts stay readable. Null after the key was destroyed: no other key is ever created.
   * @throws UnavailableError
   */
  obtain(subject: string): Promise<Uint8Array | null>;
  /** Finds the keys of those subjects that have one. @throws UnavailableError */
  find(subjects: ReadonlyArray<string>): Promise<ReadonlyMap<string, Uint8Array>>;
  /**
   * Permanently destroys the subject's key, whether or not it had one. It is durable, and may be called again.
   * @throws UnavailableError
   */
  destroy(subject: string): Promise<void>;
  /**
   * Adds a key from another store. A key that was destroyed here stays destroyed.
   * @returns false if the subject has another key here, which stays
   * @throws UnavailableError
   */
  adopt(subject: string, key: Uint8Array): Promise<boolean>;
  /**
   * Reads subjects with their keys, in the order of their names. The key is null if it was destroyed.
   * @param after the name after which the page begins; empty for the first page
   * @throws UnavailableError
   */
  page(after: string, limit: number): Promise<ReadonlyArray<readonly [subject: string, key: Uint8Array | null]>>;
  close(): Promise<void>;
}
