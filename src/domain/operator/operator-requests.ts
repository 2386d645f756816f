import type { Caller, Tenant } from '#domain/shared/access.ts';
import type { Entity } from '../shared/entity.ts';
import type { FailureCode } from '../shared/failure.ts';

/** The number of an operator's requests to one projection or process. The runner reports its status. */
export interface OperatorRequestsState {
  readonly requests: number;
}

/** Each name has one stream. @param notFound for an unknown name */
export function operatorRequests<Events>(
  category: string,
  notFound: FailureCode,
): Entity<OperatorRequestsState, Events> {
  return {
    category,
    stateVersion: 1,
    initial: { requests: 0 },
    streamKey: (name) => name,
    everExisted: () => true,
    isLive: () => true,
    notFound,
    evolve: ({ requests }) => ({ requests: requests + 1 }),
  };
}

/** The operator's organization. */
export function operatorTenant({ organizationId, partnerId }: Caller): Tenant {
  return { organizationId, projectId: null, partnerId };
}
