import type { SubjectKeys } from '#personal-data/subject-keys.ts';
import { clock } from '#shared/clock.ts';
import type { Erasure, ResponseStore } from './response-store.ts';

/** The pause before an erasure is repeated: longer than a call may write after it has read its generation. */
const repeatedAfterMs = 60_000;
const maxErasuresAtOnce = 64;

export interface ResponseErasureOptions {
  readonly store: ResponseStore;
  readonly keys: Pick<SubjectKeys, 'destroy'>;
  /** Called when the key of a project is destroyed. */
  readonly onErased: (projectId: string) => void;
  /** The time in ms since 1970. */
  readonly now: () => number;
}

/**
 * First the key of the project is destroyed, so that no copy can be read any more. Then nothing more is stored under
 * it, and its responses are removed in small steps. An erasure stays in a list until it was done twice: what had begun
 * to be written when it began is there for the second time, and so is what the end of a process has left.
 */
export class ResponseErasure {
  readonly #options: ResponseErasureOptions;

  constructor(options: ResponseErasureOptions) {
    this.#options = options;
  }

  /** Erases a project. It may be called again. @throws UnavailableError */
  async erase(projectId: string): Promise<void> {
    const { store, keys, onErased, now } = this.#options;
    const subject = await store.subjectOf(projectId);
    await keys.destroy(subject);
    onErased(projectId);
    await this.#erase({ projectId, subject, at: now() });
  }

  /** Repeats the erasures that began some time ago, and ends them. @throws UnavailableError */
  async repeat(signal: AbortSignal): Promise<void> {
    const { store, now } = this.#options;
    for (;;) {
      const begun = await store.erasuresBefore(now() - repeatedAfterMs, maxErasuresAtOnce);
      for (const erasure of begun) {
        await this.#erase(erasure, signal);
        if (signal.aborted) return;
        await store.endErasure(erasure);
      }
      if (begun.length < maxErasuresAtOnce) return;
    }
  }

  async #erase(erasure: Erasure, signal?: AbortSignal): Promise<void> {
    const { store, now } = this.#options;
    await store.beginErasure(erasure);
    let after: string | null = '';
    while (after !== null && signal?.aborted !== true) {
      after = await store.eraseSome(erasure, after);
      await clock.nextTurn();
    }
    await store.copies.makeDue(erasure.projectId, now());
  }
}
