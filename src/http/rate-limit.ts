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

/** Counts the requests of each key on this node, in windows of a minute; those that are refused count for nothing. */
export class RateLimit {
  readonly #limiter: RateLimiterMemory;
  #policy: string;

  /** @param requestsPerMinute for each key */
  constructor(requestsPerMinute: number) {
    this.#limiter = new RateLimiterMemory({ points: requestsPerMinute, duration: windowSeconds });
    this.#policy = policyOf(requestsPerMinute);
  }

  /** Another limit from now on; what each key has had in its minute stays counted. */
  set requestsPerMinute(requestsPerMinute: number) {
    this.#limiter.points = requestsPerMinute;
    this.#policy = policyOf(requestsPerMinute);
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
    const allowed = counted.consumedPoints <= this.#limiter.points;
    // Else a limit that is raised would still be used up by what was refused under the lower one.
    if (!allowed) await this.#limiter.reward(keyId);
    return {
      allowed,
      fields: ['RateLimit-Policy', this.#policy, 'RateLimit', state],
      retryAfterSeconds,
    };
  }
}

function policyOf(requestsPerMinute: number): string {
  return `"key";q=${requestsPerMinute};w=${windowSeconds}`;
}

/** The refusal of a request beyond the limit. */
export function rateLimited(retryAfterSeconds: number): Failure {
  const detail = `This key has used up its requests. Try again in ${retryAfterSeconds} s.`;
  return failure('rate-limited', detail, { retryAfterSeconds });
}
