import type { Tenant } from '#domain/shared/access.ts';
import type { Where } from '#read-store/read-store.ts';

export interface EndpointLimits {
  readonly maxPerProject: number;
  /** Maximum number of endpoints of an organization, with those of its projects. */
  readonly maxPerOrganization: number;
}

export const defaultEndpointLimits: EndpointLimits = { maxPerProject: 100, maxPerOrganization: 500 };

/** The limit of a partner with its customers, as a multiple of the limit of an organization. */
const partnerFactor = 10;

export interface EndpointLimit {
  readonly of: 'project' | 'organization' | 'partner';
  readonly max: number;
  readonly where: Where;
  /** True if an endpoint of this tenant counts. */
  readonly includes: (tenant: Tenant) => boolean;
}

/** The limits for an endpoint of the tenant. */
export function endpointLimitsOf(
  { projectId, organizationId, partnerId }: Tenant,
  { maxPerProject, maxPerOrganization }: EndpointLimits,
): ReadonlyArray<EndpointLimit> {
  return [
    ...limitOf('project', 'projectId', projectId, maxPerProject),
    ...limitOf('organization', 'organizationId', organizationId, maxPerOrganization),
    ...limitOf('partner', 'partnerId', partnerId, partnerFactor * maxPerOrganization),
  ];
}

/** @param id null if the tenant has none */
function limitOf(
  of: EndpointLimit['of'],
  member: keyof Tenant,
  id: string | null,
  max: number,
): ReadonlyArray<EndpointLimit> {
  if (id === null) return [];
  return [{ of, max, where: { [member]: id }, includes: (tenant) => tenant[member] === id }];
}
