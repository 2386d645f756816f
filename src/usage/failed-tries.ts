import type { FailedTriesEntry } from '#domain/usage/events.ts';
import type { FailedTry } from '#gateway/call-record.ts';
import { otherErrorType } from '#gateway/error-type.ts';

/** The most kinds that are counted separately, because providers choose the names of errors. */
const maxKinds = 20;

/** Counts failed tries by target and type of error. Further kinds count as `_OTHER`. */
export class FailedTries {
  readonly #tries = new Map<string, number>();

  add({ target, errorType }: FailedTry): void {
    // Neither holds a line feed: names of targets and types of errors are without blanks.
    const kind = `${target}\n${errorType}`;
    const isKnown = this.#tries.has(kind) || this.#tries.size < maxKinds;
    const counted = isKnown ? kind : `${otherErrorType}\n${otherErrorType}`;
    this.#tries.set(counted, (this.#tries.get(counted) ?? 0) + 1);
  }

  entries(): ReadonlyArray<FailedTriesEntry> {
    return Array.from(this.#tries, ([kind, tries]) => {
      const [target = '', errorType = ''] = kind.split('\n');
      return { target, errorType, tries };
    });
  }
}
