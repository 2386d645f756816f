import type { Entity } from './entity.ts';
import type { FailureCode } from './failure.ts';
import type { Caller, Tenant } from './tenancy.ts';

/** What operators asked of one projection or process: how often. Its status is the runner's to say. */
export interface OperatorRequestsState {
  readonly requests: number;
}

/**
 * The streams in which operators' requests are kept, one for each name.
 * @param category of the streams
 * @param notFound the failure where nothing has the name
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

/** Whose an operator's request is: the operator's organization's. */
export function operatorTenant({ organizationId, partnerId }: Caller): Tenant {
  return { organizationId, projectId: null, partnerId };
}
