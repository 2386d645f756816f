import { Piscina } from 'piscina';
import { heavyTurns } from '#shared/async/heavy-turns.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { EncodedJson } from '#shared/json/encoded-json.ts';
import compareVersions, { type Comparison } from './compare-versions.ts';

/** The most characters of both versions that are compared without the thread, which takes a few milliseconds. */
const maxCharactersHere = 64 * 1024;
/** The most comparisons that wait for the thread, with up to 2 MiB of text each. */
const maxQueue = 16;
const timeoutMs = 10_000;
const idleTimeoutMs = 30_000;
/** This is far more than the largest versions need. */
const maxOldGenerationSizeMb = 512;

/** The limits of a comparison. */
export interface VersionComparerLimits {
  readonly maxCharactersHere?: number;
  readonly maxQueue?: number;
  /** For waiting and comparing together. */
  readonly timeoutMs?: number;
}

/**
 * Compares versions, large ones in a thread, so that other requests are served meanwhile. The thread starts on demand,
 * and ends after half a minute without work.
 */
export class VersionComparer {
  readonly #limits: Required<VersionComparerLimits>;
  #pool: Piscina<Comparison, string> | null = null;

  constructor(limits: VersionComparerLimits = {}) {
    this.#limits = { maxCharactersHere, maxQueue, timeoutMs, ...limits };
  }

  /**
   * Compares two versions.
   * @returns `{patch, summary}`, encoded
   * @throws UnavailableError if too many wait, or if the thread does not answer in time
   */
  async compare<Diff>(comparison: Comparison): Promise<EncodedJson<Diff>> {
    if (comparison.before.length + comparison.after.length > this.#limits.maxCharactersHere)
      return new EncodedJson<Diff>(await this.#compareInThread(comparison));
    await heavyTurns.take(1);
    return new EncodedJson<Diff>(compareVersions(comparison));
  }

  /** Ends the thread and abandons its comparison. */
  async close(): Promise<void> {
    await this.#pool?.destroy();
  }

  async #compareInThread(comparison: Comparison): Promise<string> {
    const { maxQueue, timeoutMs } = this.#limits;
    const pool = this.#startedPool();
    if (pool.queueSize >= maxQueue) throw new UnavailableError('Too many large versions are being compared now.');
    const signal = AbortSignal.timeout(timeoutMs);
    try {
      return await pool.run(comparison, { signal });
    } catch (error) {
      if (!signal.aborted) throw error;
      throw new UnavailableError(`The comparison took longer than ${timeoutMs / 1000} s.`);
    }
  }

  #startedPool(): Piscina<Comparison, string> {
    this.#pool ??= new Piscina({
      filename: new URL('./compare-versions.ts', import.meta.url).href,
      minThreads: 0,
      maxThreads: 1,
      maxQueue: this.#limits.maxQueue,
      idleTimeout: idleTimeoutMs,
      resourceLimits: { maxOldGenerationSizeMb },
    });
    return this.#pool;
  }
}
