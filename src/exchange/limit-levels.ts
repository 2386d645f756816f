import type { Caller } from '#domain/shared/access.ts';

/** Limits as multiples of the project's limit. */
export interface LimitFactors {
  readonly organization: number;
  readonly partner: number;
}

export const defaultLimitFactor = 10;

export const defaultLimitFactors: LimitFactors = { organization: defaultLimitFactor, partner: defaultLimitFactor };

export interface LimitLevel {
  readonly kind: 'project' | 'organization' | 'partner';
  readonly id: string;
}

/**
 * The levels, the broadest first: its partner, its organization, its project. So neither more keys nor more projects
 * raise the limit. A partner's own organization counts for the partner, too.
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

/** @param perProject a project's limit */
export function limitAt({ kind }: LimitLevel, perProject: number, factors: LimitFactors): number {
  return kind === 'project' ? perProject : perProject * factors[kind];
}
