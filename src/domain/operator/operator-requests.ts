import type { Caller, Tenant } from '#domain/shared/access.ts';
import type { Entity } from '../shared/entity.ts';
import type { FailureCode } from '../shared/failure.ts';

/** The number of operators' requests to one projection or process. The runner reports its status. */
export interface OperatorRequestsState {
  readonly requests: number;
}

/**
 * The streams of operators' requests, one for each name.
 * @param category the category of the streams
 * @param notFound the failure for an unknown name
 */
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

/** The tenant of an operator's request: the operator's organization. */
export function operatorTenant({ organizationId, partnerId }: Caller): Tenant {
  return { organizationId, projectId: null, partnerId };
}
