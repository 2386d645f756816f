import { repeating } from '#shared/async/repeating.ts';
import { clock } from '#shared/clock.ts';
import type { Logger } from '#shared/logging/logger.ts';
import type { CallLog, RemovableCall } from './call-log.ts';

const mebibyte = 1024 * 1024;
const dayMs = 24 * 60 * 60 * 1_000;
const intervalMs = 30_000;
/** What the messages call the store. */
const store = 'The store of the records of calls, whose oldest are to be removed';
/** Maximum number of calls of one removal, so that other writes of the thread do not wait long. */
const maxCallsOfRemoval = 500;

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

export interface CallRetentionOptions {
  readonly calls: CallLog;
  /** Called with the number of calls that were removed because there were too many. */
  readonly onRemoved: (calls: number) => void;
  readonly limits?: CallLogLimits;
  /** The time in ms since 1970. */
  readonly now?: () => number;
}

/** Removes old calls, and the oldest ones of projects that have too many. One node at a time may do this. */
export class CallRetention {
  readonly #calls: CallLog;
  readonly #onRemoved: (calls: number) => void;
  readonly #limits: CallLogLimits;
  readonly #now: () => number;

  constructor({ calls, onRemoved, limits = usualLimits, now = clock.time }: CallRetentionOptions) {
    this.#calls = calls;
    this.#onRemoved = onRemoved;
    this.#limits = limits;
    this.#now = now;
  }

  /** Runs twice a minute until a signal aborts. Outages of the store are logged. */
  async run(signal: AbortSignal, log: Logger): Promise<void> {
    await repeating(() => this.keepLimits(signal), { intervalMs, signal, log, store });
  }

  /** @throws UnavailableError */
  async keepLimits(signal: AbortSignal): Promise<void> {
    const { maxAgeMs, maxBytesOfProject, maxBytes } = this.#limits;
    const oldest = new Date(this.#now() - maxAgeMs).toISOString();
    while (!signal.aborted && (await this.#calls.removeBefore(oldest))) await clock.nextTurn();
    const sizes = [...(await this.#calls.bytesByProject())].sort(([, one], [, other]) => one - other);
    let left = maxBytes;
    for (const [index, [project, bytes]] of sizes.entries()) {
      // What smaller projects leave is for the larger ones.
      const share = Math.min(maxBytesOfProject, left / (sizes.length - index));
      if (bytes > share) await this.#removeOldest(project, bytes - share, signal);
      left -= Math.min(bytes, share);
    }
  }

  async #removeOldest(project: string, bytes: number, signal: AbortSignal): Promise<void> {
    for (let left = bytes; left > 0 && !signal.aborted; ) {
      const removed: RemovableCall[] = [];
      for (const call of await this.#calls.oldest(project, maxCallsOfRemoval)) {
        if (left <= 0) break;
        removed.push(call);
        left -= call.bytes;
      }
      if (removed.length === 0) return;
      await this.#calls.remove(project, removed);
      this.#onRemoved(removed.length);
    }
  }
}
