import type { RateLimiterMemory } from 'rate-limiter-flexible';
import type { Caller } from '#domain/shared/access.ts';
import { type Failure, failure } from '#domain/shared/failure.ts';
import { defaultLimitFactors, type LimitFactors, type LimitLevel, limitAt, limitLevelsOf } from './limit-levels.ts';

const windowSeconds = 60;

export interface RateLimitResult {
  /** Why the request is refused; null if it is admitted. */
  readonly refusal: Failure | null;
  /** Headers of the tightest limit, as alternating names and values; none for an `admin` key. */
  readonly headers: ReadonlyArray<string>;
}

export const unlimited: RateLimitResult = { refusal: null, headers: [] };

/** What is left of a limit after a request. */
interface Count {
  readonly level: LimitLevel;
  readonly limit: number;
  readonly remaining: number;
  readonly secondsLeft: number;
  readonly isExceeded: boolean;
}

/**
 * Counts requests on this node in windows of a minute: for the project, its organization and its partner. Refused
 * requests do not count. A counter lasts for its window. The broader limits are counted first and limit the number of
 * project counters.
 */
export class RateLimit {
  /** Loaded when the first limit is set: most nodes have none. */
  readonly #limiters = loadLimiters();
  #perProject: number;
  #refused = 0;
  #factors: LimitFactors;

  constructor(perProject: number, factors: LimitFactors = defaultLimitFactors) {
    this.#perProject = perProject;
    this.#factors = factors;
  }

  get refused(): number {
    return this.#refused;
  }

  /** Changes the limits. The counts of the current minute stay. */
  configure(perProject: number, factors: LimitFactors): void {
    this.#perProject = perProject;
    this.#factors = factors;
  }

  /** @see https://datatracker.ietf.org/doc/draft-ietf-httpapi-ratelimit-headers/ for the headers */
  async take(caller: Caller): Promise<RateLimitResult> {
    const counts: Count[] = [];
    for (const level of limitLevelsOf(caller)) {
      const count = await this.#count(level);
      counts.push(count);
      if (count.isExceeded) {
        this.#refused += 1;
        await this.#giveBack(counts);
        return { refusal: rateLimited(count), headers: fieldsOf(count) };
      }
    }
    const tightest = tightestOf(counts);
    return tightest === null ? unlimited : { refusal: null, headers: fieldsOf(tightest) };
  }

  async #count(level: LimitLevel): Promise<Count> {
    const limiters = await this.#limiters;
    const limit = limitAt(level, this.#perProject, this.#factors);
    const counted = await limiters[level.kind].consume(level.id);
    return {
      level,
      limit,
      remaining: Math.max(0, limit - counted.consumedPoints),
      secondsLeft: Math.max(1, Math.ceil(counted.msBeforeNext / 1_000)),
      isExceeded: counted.consumedPoints > limit,
    };
  }

  /** Gives counts back: otherwise a raised limit would still be used up by requests that the lower one refused. */
  async #giveBack(counts: ReadonlyArray<Count>): Promise<void> {
    const limiters = await this.#limiters;
    for (const { level } of counts) await limiters[level.kind].reward(level.id);
  }
}

async function loadLimiters(): Promise<Readonly<Record<LimitLevel['kind'], RateLimiterMemory>>> {
  const { RateLimiterMemory } = await import('rate-limiter-flexible');
  // `RateLimit` compares counts with limits itself, so that limits may change while counts stay.
  const limiter = () => new RateLimiterMemory({ points: Number.MAX_SAFE_INTEGER, duration: windowSeconds });
  return { project: limiter(), organization: limiter(), partner: limiter() };
}

/** The limit with the least left; among equals the narrowest, which comes last. */
function tightestOf(counts: ReadonlyArray<Count>): Count | null {
  return counts.reduce<Count | null>(
    (tightest, count) => (tightest !== null && tightest.remaining < count.remaining ? tightest : count),
    null,
  );
}

function fieldsOf({ level: { kind }, limit, remaining, secondsLeft }: Count): ReadonlyArray<string> {
  return [
    'RateLimit-Policy',
    `"${kind}";q=${limit};w=${windowSeconds}`,
    'RateLimit',
    `"${kind}";r=${remaining};t=${secondsLeft}`,
  ];
}

function rateLimited({ level: { kind }, limit, secondsLeft }: Count): Failure {
  const detail = `The ${kind} has had its ${limit} requests of this minute. Try again in ${secondsLeft} s.`;
  return failure('rate-limited', detail, { retryAfterSeconds: secondsLeft });
}
