import * as t from 'io-ts';
import type { RecordStore } from '#records/record-store.ts';
import { Debouncer } from '#shared/async/debouncer.ts';
import { levelOf } from '#shared/errors/unavailable-error.ts';
import { errorText } from '#shared/logging/logged-error.ts';
import type { Logger } from '#shared/logging/logger.ts';

const kind = 'key-usage';
const minuteMs = 60_000;
const flushDelayMs = 3000;
/** Maximum number of keys with an unsaved time of use. Times of further keys are dropped until a flush succeeds. */
const maxPendingKeys = 10_000;

export interface KeyUsageOptions {
  /** Keeps the later of two times, whichever node has stored it. */
  readonly records: Pick<RecordStore, 'all' | 'put'>;
  readonly log: Pick<Logger, 'info' | 'warn'>;
  /** How long a time of use is only in memory (default 3 s). */
  readonly flushDelayMs?: number;
}

/**
 * Records, to the minute, when each key was last used. This is a record, not an event. Times are kept in memory, and
 * stored every few seconds and at the close.
 */
export class KeyUsage {
  readonly #options: KeyUsageOptions;
  readonly #pending = new Map<string, string>();
  /** The last noted minute of each key, counted from 1970, so that a minute is not stored twice. */
  readonly #noted = new Map<string, number>();
  readonly #saving: Debouncer;

  constructor(options: KeyUsageOptions) {
    this.#options = options;
    this.#saving = new Debouncer(options.flushDelayMs ?? flushDelayMs, (guard) => this.#save(guard(options.records)));
  }

  /** Notes the use in memory. @param at in ms since 1970 */
  touch(keyId: string, at: number): void {
    const minute = Math.floor(at / minuteMs);
    if ((this.#noted.get(keyId) ?? 0) >= minute) return;
    if (!this.#pending.has(keyId) && this.#pending.size >= maxPendingKeys) return;
    if (this.#noted.size >= maxPendingKeys) this.#noted.clear();
    this.#noted.set(keyId, minute);
    this.#pending.set(keyId, new Date(minute * minuteMs).toISOString());
    this.#saving.schedule();
  }

  /** Times of use in RFC 3339, without keys that were never used. @throws UnavailableError */
  async lastUsed(keyIds: ReadonlyArray<string>): Promise<ReadonlyMap<string, string>> {
    // Memory is read first, because a flush moves times from memory to the store, never back.
    const pending = keyIds.flatMap((keyId) => {
      const time = this.#pending.get(keyId);
      return time === undefined ? [] : [[keyId, time] as const];
    });
    const stored = await this.#options.records.all(kind, keyIds);
    const times = new Map([...stored].filter((entry): entry is [string, string] => t.string.is(entry[1])));
    for (const [keyId, time] of pending) if ((times.get(keyId) ?? '') < time) times.set(keyId, time);
    return times;
  }

  async flush(): Promise<void> {
    await this.#saving.flush();
  }

  /** Times that cannot be stored are lost, and the loss is logged. */
  async close(): Promise<void> {
    this.#saving.stop();
    await this.flush();
  }

  async #save(records: Pick<RecordStore, 'put'>): Promise<void> {
    if (this.#pending.size === 0) return;
    const times = new Map(this.#pending);
    try {
      await records.put(kind, times, { keep: 'greater' });
      for (const [keyId, time] of times) if (this.#pending.get(keyId) === time) this.#pending.delete(keyId);
    } catch (error) {
      this.#options.log[levelOf(error)](
        { error: errorText(error), keys: times.size },
        'The times of the last use of keys could not be stored',
      );
      this.#saving.schedule();
    }
  }
}
