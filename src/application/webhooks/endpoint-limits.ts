import type { Tenant } from '#domain/shared/access.ts';
import type { Where } from '#read-store/read-store.ts';

/** The most webhook endpoints that exist at once. */
export interface EndpointLimits {
  readonly maxPerProject: number;
  /** Of an organization, with those of its projects. */
  readonly maxPerOrganization: number;
}

/** The default of `EndpointLimits`. */
export const defaultEndpointLimits: EndpointLimits = { maxPerProject: 100, maxPerOrganization: 500 };

/** The limit of a partner with its customers, as a multiple of the limit of an organization. */
const partnerFactor = 10;

/** A limit for which an endpoint counts. */
export interface EndpointLimit {
  readonly of: 'project' | 'organization' | 'partner';
  readonly max: number;
  /** The filter for the endpoints that count. */
  readonly where: Where;
  /** Whether an endpoint of this tenant counts. */
  readonly includes: (tenant: Tenant) => boolean;
}

/** Returns the limits for which an endpoint of a tenant counts. */
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
