import type { Tenant } from '#domain/shared/access.ts';

export function scopeOf(kind: 'all' | keyof typeof owners, id: string | null): string {
  return id === null ? kind : `${kind}:${id}`;
}

const owners = { partner: 'partnerId', organization: 'organizationId', project: 'projectId' } as const;

/** Their figures count the tenant's events. */
export function scopesOf(tenant: Tenant): ReadonlyArray<string> {
  const { partnerId, organizationId, projectId } = tenant;
  const scopes = ['all'];
  if (partnerId !== null) scopes.push(scopeOf('partner', partnerId));
  scopes.push(scopeOf('organization', organizationId));
  if (projectId !== null) scopes.push(scopeOf('project', projectId));
  return scopes;
}
