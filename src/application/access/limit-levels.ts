import type { Caller } from '#domain/shared/tenancy.ts';

/** How many times a project's limit those above it have. */
export interface LimitFactors {
  readonly organization: number;
  readonly partner: number;
}

export const defaultLimitFactor = 10;

export const defaultLimitFactors: LimitFactors = { organization: defaultLimitFactor, partner: defaultLimitFactor };

/** One of those whom a request counts for. */
export interface LimitLevel {
  readonly kind: 'project' | 'organization' | 'partner';
  /** The project's or organization's id. */
  readonly id: string;
}

/**
 * Whom a caller's request counts for, the broadest first: its partner, its organization, its project. So neither more
 * keys nor more projects give more. A partner's own organization counts for the partner, too.
 * @returns none for an `admin` key, which no limit holds for
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

/** The limit at a level. @param perProject a project's limit */
export function limitAt({ kind }: LimitLevel, perProject: number, factors: LimitFactors): number {
  return kind === 'project' ? perProject : perProject * factors[kind];
}
