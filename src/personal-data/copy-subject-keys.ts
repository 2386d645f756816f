import type { SubjectKeys } from './subject-keys.ts';

const pageSubjects = 500;

/** What a copy came to. */
export interface CopiedKeys {
  /** Keys that are in the target now. */
  readonly keys: number;
  /** Subjects whose keys are destroyed in the source, and in the target now. */
  readonly destroyed: number;
  /** Subjects that have another key in the target, which was left. */
  readonly differing: ReadonlyArray<string>;
}

/**
 * Puts all keys of one store into another. What is destroyed in either is destroyed in the target. May be repeated.
 * @throws UnavailableError
 */
export async function copySubjectKeys(from: SubjectKeys, to: SubjectKeys): Promise<CopiedKeys> {
  let [keys, destroyed, after] = [0, 0, ''];
  const differing: string[] = [];
  for (;;) {
    const page = await from.page(after, pageSubjects);
    for (const [subject, key] of page) {
      if (key === null) {
        await to.destroy(subject);
        destroyed += 1;
      } else if (await to.adopt(subject, key)) keys += 1;
      else differing.push(subject);
      after = subject;
    }
    if (page.length < pageSubjects) return { keys, destroyed, differing };
  }
}
