import type { Caller } from '#domain/shared/access.ts';

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
