import * as E from 'fp-ts/lib/Either.js';
import { Piscina } from 'piscina';
import { type Failure, failure } from '#domain/shared/failure.ts';
import { heavyWork } from '#shared/async/event-loop-budget.ts';
import { currentOwner, FairSlots } from '#shared/async/fair-queue.ts';
import { abortAfter } from '#shared/async/timed-waits.ts';
import { clock } from '#shared/clock.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { EncodedJson } from '#shared/json/encoded-json.ts';
import { type ThreadHeap, threadError } from '#shared/memory/thread-heap.ts';
import compareVersions, { type Comparison } from './compare-versions.ts';

/** The most characters of both versions that are compared without the thread, which takes a few milliseconds. */
const maxCharactersHere = 64 * 1024;
/** The most comparisons of a project that wait for the thread, with up to 4 MiB of text each. */
const maxWaitingOfProject = 2;
/** The most that wait in all: those of many projects, so that no few of them keep the others out. */
const maxWaiting = 64;
const timeoutMs = 10_000;
const idleTimeoutMs = 30_000;
const heap: ThreadHeap = {
  thread: 'compares versions',
  // This is far more than the largest versions need.
  maxOldGenerationSizeMb: 512,
  // Many comparisons in a row would let the thread keep 200 MiB more for short-lived objects.
  maxYoungGenerationSizeMb: 8,
};

/** The limits of comparisons. */
export interface VersionComparerLimits {
  readonly maxCharactersHere?: number;
  readonly maxWaiting?: number;
  /** For waiting and comparing together. */
  readonly timeoutMs?: number;
  readonly heap?: ThreadHeap;
}

/**
 * Compares versions, large ones in a thread, so that other requests are served meanwhile. Projects get the thread in
 * turn. It starts on demand, and ends after half a minute without work.
 */
export class VersionComparer {
  readonly #limits: Required<VersionComparerLimits>;
  readonly #turns: FairSlots;
  #pool: Piscina<Comparison, string> | null = null;
  #isClosed = false;

  constructor(limits: VersionComparerLimits = {}) {
    this.#limits = { maxCharactersHere, maxWaiting, timeoutMs, heap, ...limits };
    this.#turns = new FairSlots({
      maxSlots: 1,
      maxWaiting: this.#limits.maxWaiting,
      maxWaitingOfOwner: maxWaitingOfProject,
      maxWaitMs: this.#limits.timeoutMs,
    });
  }

  /**
   * Compares two versions for the project whose work runs.
   * @returns `{patch, summary}`, encoded; too-many-calls if two large comparisons of the project wait
   * @throws UnavailableError if too many projects wait, or if the thread does not answer in time
   */
  async compare<Diff>(comparison: Comparison): Promise<E.Either<Failure, EncodedJson<Diff>>> {
    if (comparison.before.length + comparison.after.length <= this.#limits.maxCharactersHere) {
      await heavyWork.take(1);
      return E.right(new EncodedJson<Diff>(compareVersions(comparison)));
    }
    const began = clock.now();
    const leave = await this.#turns.enter(currentOwner());
    if (leave === 'owner-waits') return E.left(tooManyWait);
    if (leave === 'all-wait') throw new UnavailableError('Too many large versions are being compared now.');
    if (leave === 'too-late') throw this.#late();
    try {
      return E.right(new EncodedJson<Diff>(await this.#compareInThread(comparison, began)));
    } finally {
      leave();
    }
  }

  /** Ends the thread and abandons its comparison, and those that wait. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#pool?.destroy();
  }

  async #compareInThread(comparison: Comparison, began: number): Promise<string> {
    const msLeft = this.#limits.timeoutMs - (clock.now() - began);
    if (this.#isClosed) throw new UnavailableError('This node stops.');
    const signal = abortAfter(Math.max(0, Math.floor(msLeft)));
    try {
      return await this.#startedPool().run(comparison, { signal });
    } catch (error) {
      if (!signal.aborted) throw threadError(error, this.#limits.heap);
      throw this.#late();
    }
  }

  #late(): UnavailableError {
    return new UnavailableError(`The comparison took longer than ${this.#limits.timeoutMs / 1000} s.`);
  }

  #startedPool(): Piscina<Comparison, string> {
    const { maxOldGenerationSizeMb, maxYoungGenerationSizeMb } = this.#limits.heap;
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

const tooManyWait = failure(
  'too-many-calls',
  'Two comparisons of large versions of this project wait already. Send them one after another.',
  { retryAfterSeconds: 1 },
);
