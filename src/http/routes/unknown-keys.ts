import { LRUCache } from 'lru-cache';
import { type Failure, failure } from '#domain/shared/failure.ts';

const windowMs = 60_000;
const maxOfAddress = 60;
const maxAddresses = 10_000;

/**
 * Counts unknown keys for each address, in windows of a minute. This refuses only what is unknown: clients behind one
 * proxy share its address, and none of them may keep the holder of a key out.
 */
export class UnknownKeys {
  readonly #counts = new LRUCache<string, { count: number }>({ max: maxAddresses, ttl: windowMs });

  /** @returns why no more may be tried; null if they may */
  count(address: string): Failure | null {
    const counted = this.#counts.get(address) ?? { count: 0 };
    if (counted.count === 0) this.#counts.set(address, counted);
    counted.count += 1;
    if (counted.count <= maxOfAddress) return null;
    const retryAfterSeconds = Math.max(1, Math.ceil(this.#counts.getRemainingTTL(address) / 1_000));
    const detail = `Your address has tried ${maxOfAddress} unknown keys in a minute. Try again in ${retryAfterSeconds} s.`;
    return failure('rate-limited', detail, { retryAfterSeconds });
  }
}
