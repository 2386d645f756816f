import type { ReadStore } from '#read-store/read-store.ts';
import { Debouncer } from '#shared/async/debouncer.ts';
import type { Logger } from '#shared/logging/logger.ts';

const minuteMs = 60_000;
const flushDelayMs = 3000;
/** The most keys with an unsaved time of use. Times of further keys are dropped until a flush succeeds. */
const maxPendingKeys = 10_000;

/** The time of each API key's last use, to the minute. It is stored with the read models, not as an event. */
export interface KeyUsage {
  /**
   * Records a use in memory.
   * @param at in ms since 1970
   */
  touch(keyId: string, at: number): void;
  /**
   * The last use of each of these keys, without keys that were never used.
   * @throws UnavailableError
   */
  lastUsed(keyIds: ReadonlyArray<string>): Promise<ReadonlyMap<string, string>>;
}

export interface KeyUsageOptions {
  readonly readStore: Pick<ReadStore, 'keysLastUsed'>;
  /** Stores the times, each unless a later one is stored; resolves when they are stored. */
  readonly save: (times: ReadonlyMap<string, string>) => Promise<void>;
  readonly log: Pick<Logger, 'warn'>;
  /** How long a use may stay in memory only (default 3 s). */
  readonly flushDelayMs?: number;
}

/** A `KeyUsage` that the owner closes. */
export interface OpenKeyUsage extends KeyUsage {
  /** Stores the times in memory. Times that cannot be stored are lost, and the loss is logged. */
  close(): Promise<void>;
}

/** Keeps key usage in memory, and stores it every few seconds and at its close. */
export function openKeyUsage(options: KeyUsageOptions): OpenKeyUsage {
  return new BufferedKeyUsage(options);
}

class BufferedKeyUsage implements OpenKeyUsage {
  readonly #options: KeyUsageOptions;
  readonly #pending = new Map<string, string>();
  /** The last recorded minute of each key, from 1970, so that a minute is not stored twice. */
  readonly #noted = new Map<string, number>();
  readonly #saving: Debouncer;

  constructor(options: KeyUsageOptions) {
    this.#options = options;
    this.#saving = new Debouncer(options.flushDelayMs ?? flushDelayMs, () => this.#save());
  }

  touch(keyId: string, at: number): void {
    const minute = Math.floor(at / minuteMs);
    if ((this.#noted.get(keyId) ?? 0) >= minute) return;
    if (!this.#pending.has(keyId) && this.#pending.size >= maxPendingKeys) return;
    if (this.#noted.size >= maxPendingKeys) this.#noted.clear();
    this.#noted.set(keyId, minute);
    this.#pending.set(keyId, new Date(minute * minuteMs).toISOString());
    this.#saving.schedule();
  }

  async lastUsed(keyIds: ReadonlyArray<string>): Promise<ReadonlyMap<string, string>> {
    // Memory is read first, because a flush moves times from memory to the store, never back.
    const pending = keyIds.flatMap((keyId) => {
      const time = this.#pending.get(keyId);
      return time === undefined ? [] : [[keyId, time] as const];
    });
    const times = new Map(await this.#options.readStore.keysLastUsed(keyIds));
    for (const [keyId, time] of pending) if ((times.get(keyId) ?? '') < time) times.set(keyId, time);
    return times;
  }

  async close(): Promise<void> {
    this.#saving.stop();
    await this.#saving.flush();
  }

  async #save(): Promise<void> {
    if (this.#pending.size === 0) return;
    const times = new Map(this.#pending);
    try {
      await this.#options.save(times);
      for (const [keyId, time] of times) if (this.#pending.get(keyId) === time) this.#pending.delete(keyId);
    } catch (error) {
      this.#options.log.warn(
        { error: String(error), keys: times.size },
        'The times of the last use of keys could not be stored',
      );
      this.#saving.schedule();
    }
  }
}
