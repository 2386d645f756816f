import * as E from 'fp-ts/lib/Either.js';
import { Piscina } from 'piscina';
import type { Failure } from '#domain/shared/failure.ts';
import type { Admission } from '#exchange/admission.ts';
import { currentHeld } from '#exchange/held.ts';
import { turn } from '#exchange/turns.ts';
import { abortAfter } from '#shared/async/timed-waits.ts';
import { clock } from '#shared/clock.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { EncodedJson } from '#shared/json/json.ts';
import { type ThreadHeap, threadError } from '#shared/memory/thread-heap.ts';
import compareVersions, { type Comparison } from './compare-versions.ts';

/** Maximum length of both versions that are compared without the thread, which takes a few milliseconds. */
const maxCharactersHere = 64 * 1024;
/** Comparing a character takes as long as parsing several: the longest text that is compared here has a turn of its own. */
const workOfCharacter = 4;
const timeoutMs = 10_000;
const idleTimeoutMs = 30_000;
const heap: ThreadHeap = {
  thread: 'compares versions',
  // This is far more than the largest versions need.
  maxOldGenerationSizeMb: 512,
  // Many comparisons in a row would let the thread keep 200 MiB more for short-lived objects.
  maxYoungGenerationSizeMb: 8,
};

export interface VersionComparerOptions {
  readonly admission: Pick<Admission, 'slot'>;
  readonly maxCharactersHere?: number;
  /** Time limit of waiting and comparing together. */
  readonly timeoutMs?: number;
  readonly heap?: ThreadHeap;
}

/**
 * Large versions are compared in a thread, so that other requests are served meanwhile. Projects get the thread in
 * turn. It starts on demand, and ends after half a minute without work.
 */
export class VersionComparer {
  readonly #options: Required<VersionComparerOptions>;
  #pool: Piscina<Comparison, string> | null = null;
  #isClosed = false;

  constructor(options: VersionComparerOptions) {
    this.#options = { maxCharactersHere, timeoutMs, heap, ...options };
  }

  /**
   * Compares two versions for the project whose work runs.
   * @returns `{patch, summary}`, encoded; too-many-calls if two large comparisons of the project wait
   * @throws UnavailableError if too many projects wait, or if the thread does not answer in time
   */
  async compare<Diff>(comparison: Comparison): Promise<E.Either<Failure, EncodedJson<Diff>>> {
    const characters = comparison.before.length + comparison.after.length;
    if (characters <= this.#options.maxCharactersHere) {
      await turn(currentHeld(), 'comparison', workOfCharacter * characters);
      return E.right(new EncodedJson<Diff>(compareVersions(comparison)));
    }
    const began = clock.now();
    const leave = await this.#options.admission.slot(currentHeld(), 'large comparison');
    if (E.isLeft(leave) && leave.left.code === 'unavailable') throw new UnavailableError(leave.left.detail);
    if (E.isLeft(leave)) return leave;
    try {
      return E.right(new EncodedJson<Diff>(await this.#compareInThread(comparison, began)));
    } finally {
      leave.right();
    }
  }

  /** Abandons the running comparison, and those that wait. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#pool?.destroy();
  }

  async #compareInThread(comparison: Comparison, began: number): Promise<string> {
    const msLeft = this.#options.timeoutMs - (clock.now() - began);
    if (this.#isClosed) throw new UnavailableError('This node stops.');
    const signal = abortAfter(Math.max(0, Math.floor(msLeft)));
    try {
      return await this.#startedPool().run(comparison, { signal });
    } catch (error) {
      if (!signal.aborted) throw threadError(error, this.#options.heap);
      throw this.#late();
    }
  }

  #late(): UnavailableError {
    return new UnavailableError(`The comparison took longer than ${this.#options.timeoutMs / 1000} s.`);
  }

  #startedPool(): Piscina<Comparison, string> {
    const { maxOldGenerationSizeMb, maxYoungGenerationSizeMb } = this.#options.heap;
    this.#pool ??= new Piscina({
      filename: new URL('./compare-versions.ts', import.meta.url).href,
      minThreads: 0,
      maxThreads: 1,
      idleTimeout: idleTimeoutMs,
      resourceLimits: { maxOldGenerationSizeMb, maxYoungGenerationSizeMb },
    });
    return this.#pool;
  }
}
