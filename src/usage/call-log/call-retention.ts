import { setImmediate as nextTurn } from 'node:timers/promises';
import { repeating } from '#shared/async/repeating.ts';
import type { Logger } from '#shared/logging/logger.ts';
import { type CallLog, placeOfCall } from './call-log.ts';
import { type CallOutline, planThinning } from './thinning.ts';

const mebibyte = 1024 * 1024;
const dayMs = 24 * 60 * 60 * 1_000;
const intervalMs = 30_000;
/** For messages. */
const store = 'The store of the records of calls, which are to be thinned';
const outlinesAtOnce = 1_000;

/** How much the log of calls keeps. */
export interface CallLogLimits {
  readonly maxAgeMs: number;
  readonly maxBytesOfProject: number;
  readonly maxBytes: number;
}

const usualLimits: CallLogLimits = {
  maxAgeMs: 7 * dayMs,
  maxBytesOfProject: 4 * mebibyte,
  maxBytes: 64 * mebibyte,
};

/** After a thinning a project has this part of what it may have, so that the next one is not due at once. */
const thinnedPart = 0.75;

export interface CallRetentionOptions {
  readonly calls: CallLog;
  readonly limits?: CallLogLimits;
  /** In ms since 1970. */
  readonly now?: () => number;
}

/** Removes old calls, and thins the calls of projects that have too many. One node at a time may do this. */
export class CallRetention {
  readonly #calls: CallLog;
  readonly #limits: CallLogLimits;
  readonly #now: () => number;

  constructor({ calls, limits = usualLimits, now = Date.now }: CallRetentionOptions) {
    this.#calls = calls;
    this.#limits = limits;
    this.#now = now;
  }

  /** Keeps the limits twice a minute until a signal aborts. Outages of the store are logged. */
  async run(signal: AbortSignal, log: Logger): Promise<void> {
    await repeating(() => this.keepLimits(signal), { intervalMs, signal, log, store });
  }

  /** @throws UnavailableError */
  async keepLimits(signal: AbortSignal): Promise<void> {
    const { maxAgeMs, maxBytesOfProject, maxBytes } = this.#limits;
    const oldest = new Date(this.#now() - maxAgeMs).toISOString();
    while (!signal.aborted && (await this.#calls.removeBefore(oldest))) await nextTurn();
    const sizes = [...(await this.#calls.bytesByProject())].sort(([, one], [, other]) => other - one);
    let all = sizes.reduce((sum, [, bytes]) => sum + bytes, 0);
    for (const [project, bytes] of sizes) {
      if (signal.aborted || (bytes <= maxBytesOfProject && all <= maxBytes)) return;
      // Beyond the limit of all, the largest project gives first.
      const kept = Math.min(bytes, maxBytesOfProject) * thinnedPart;
      await this.#thin(project, kept);
      all -= bytes - kept;
    }
  }

  async #thin(project: string, maxBytes: number): Promise<void> {
    const outlines: CallOutline[] = [];
    for (let last: CallOutline | undefined; ; ) {
      const page = await this.#calls.outlines(project, outlinesAtOnce, last === undefined ? null : placeOfCall(last));
      outlines.push(...page);
      last = page.at(-1);
      if (last === undefined || page.length < outlinesAtOnce) break;
      await nextTurn();
    }
    await this.#calls.thin(project, planThinning(outlines, maxBytes));
  }
}
