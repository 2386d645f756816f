import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import type { Caller } from '#domain/shared/access.ts';
import { type Failure, failure } from '#domain/shared/failure.ts';

const windowSeconds = 60;

/** The result of one request under the limits. */
export interface RateLimitResult {
  /** Why the request is refused; null if it is admitted. */
  readonly refusal: Failure | null;
  /** The headers of the tightest limit, as alternating names and values; none for an `admin` key. */
  readonly headers: ReadonlyArray<string>;
}

const unlimited: RateLimitResult = { refusal: null, headers: [] };

/** The rest of a limit after a request. */
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
  readonly #limiters: Readonly<Record<LimitLevel['kind'], RateLimiterMemory>>;
  #perProject: number;
  #factors: LimitFactors;

  /** @param perProject requests of a project in a minute */
  constructor(perProject: number, factors: LimitFactors = defaultLimitFactors) {
    // This class compares counts with limits itself, so that limits may change while counts stay.
    const limiter = () => new RateLimiterMemory({ points: Number.MAX_SAFE_INTEGER, duration: windowSeconds });
    this.#limiters = { project: limiter(), organization: limiter(), partner: limiter() };
    this.#perProject = perProject;
    this.#factors = factors;
  }

  /** Changes the limits. The counts of the current minute stay. */
  configure(perProject: number, factors: LimitFactors): void {
    this.#perProject = perProject;
    this.#factors = factors;
  }

  /**
   * Counts a request of a caller.
   * @see https://datatracker.ietf.org/doc/draft-ietf-httpapi-ratelimit-headers/ for the headers
   */
  async take(caller: Caller): Promise<RateLimitResult> {
    const counts: Count[] = [];
    for (const level of limitLevelsOf(caller)) {
      const count = await this.#count(level);
      counts.push(count);
      if (count.isExceeded) {
        await this.#giveBack(counts);
        return { refusal: rateLimited(count), headers: fieldsOf(count) };
      }
    }
    const tightest = tightestOf(counts);
    return tightest === null ? unlimited : { refusal: null, headers: fieldsOf(tightest) };
  }

  async #count(level: LimitLevel): Promise<Count> {
    const limit = limitAt(level, this.#perProject, this.#factors);
    const counted = await this.#limiters[level.kind].consume(level.id).catch((refused: unknown) => refused);
    if (!(counted instanceof RateLimiterRes)) throw counted;
    return {
      level,
      limit,
      remaining: Math.max(0, limit - counted.consumedPoints),
      secondsLeft: Math.max(1, Math.ceil(counted.msBeforeNext / 1_000)),
      isExceeded: counted.consumedPoints > limit,
    };
  }

  /** Otherwise a raised limit would still be used up by requests that the lower one refused. */
  async #giveBack(counts: ReadonlyArray<Count>): Promise<void> {
    for (const { level } of counts) await this.#limiters[level.kind].reward(level.id);
  }
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

/** The limits of the levels above a project, as multiples of the project's limit. */
export interface LimitFactors {
  readonly organization: number;
  readonly partner: number;
}

/** The default multiple of a project's limit for its organization and its partner. */
export const defaultLimitFactor = 10;

/** The default of `LimitFactors`. */
export const defaultLimitFactors: LimitFactors = { organization: defaultLimitFactor, partner: defaultLimitFactor };

/** One level for which a request counts. */
export interface LimitLevel {
  readonly kind: 'project' | 'organization' | 'partner';
  /** The project's or organization's id. */
  readonly id: string;
}

/**
 * The levels for which a caller's request counts, the broadest first: its partner, its organization, its project. So
 * neither more keys nor more projects raise the limit. A partner's own organization counts for the partner, too.
 * @returns none for an `admin` key, which has no limits
 */
export function limitLevelsOf(caller: Caller): ReadonlyArray<LimitLevel> {
  if (caller.keyType === 'admin') return [];
  const { projectId, organizationId, partnerId } = caller;
  const own: ReadonlyArray<LimitLevel> = [
    { kind: 'organization', id: organizationId },
    { kind: 'project', id: projectId },
  ];
  return partnerId === null ? own : [{ kind: 'partner', id: partnerId }, ...own];
}

/**
 * The limit at a level.
 * @param perProject a project's limit
 */
export function limitAt({ kind }: LimitLevel, perProject: number, factors: LimitFactors): number {
  return kind === 'project' ? perProject : perProject * factors[kind];
}
