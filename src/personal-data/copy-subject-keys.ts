import type { SubjectKeys } from './subject-keys.ts';

const pageSubjects = 500;

export interface CopiedKeys {
  /** The number of keys in the target now. */
  readonly keys: number;
  /** The subjects whose keys are destroyed in the source and now in the target. */
  readonly destroyed: number;
  /** The subjects that have another key in the target, which stays. */
  readonly differing: ReadonlyArray<string>;
}

/**
 * A key that is destroyed in either store is destroyed in the target. The copy may be repeated.
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
