import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { type Failure, failure } from '#domain/failure.ts';

const windowSeconds = 60;

/** What became of one request under the limit. */
export interface RateLimited {
  readonly allowed: boolean;
  /** `RateLimit` and `RateLimit-Policy`, names and values in turn. */
  readonly fields: ReadonlyArray<string>;
  /** When the window ends. */
  readonly retryAfterSeconds: number;
}

/** Counts the requests of each key on this node, in windows of a minute. */
export class RateLimit {
  readonly #limiter: RateLimiterMemory;
  readonly #policy: string;

  /** @param requestsPerMinute for each key */
  constructor(requestsPerMinute: number) {
    this.#limiter = new RateLimiterMemory({ points: requestsPerMinute, duration: windowSeconds });
    this.#policy = `"key";q=${requestsPerMinute};w=${windowSeconds}`;
  }

  /**
   * Counts a request.
   * @see https://datatracker.ietf.org/doc/draft-ietf-httpapi-ratelimit-headers/ for the headers
   */
  async take(keyId: string): Promise<RateLimited> {
    const counted = await this.#limiter.consume(keyId).catch((refused: unknown) => refused);
    if (!(counted instanceof RateLimiterRes)) throw counted;
    const retryAfterSeconds = Math.max(1, Math.ceil(counted.msBeforeNext / 1_000));
    const state = `"key";r=${counted.remainingPoints};t=${retryAfterSeconds}`;
    return {
      allowed: counted.consumedPoints <= this.#limiter.points,
      fields: ['RateLimit-Policy', this.#policy, 'RateLimit', state],
      retryAfterSeconds,
    };
  }
}

/** The refusal of a request beyond the limit. */
export function rateLimited(retryAfterSeconds: number): Failure {
  const detail = `This key has used up its requests. Try again in ${retryAfterSeconds} s.`;
  return failure('rate-limited', detail, { retryAfterSeconds });
}
