import type { Entity } from '#domain/entity.ts';
import { type Failure, failure } from '#domain/failure.ts';
import type { Caller, Tenant } from '#domain/tenancy.ts';
import type { ProjectionEvents } from './events.ts';

/** What operators asked of one projection: how often. Where it stands is the runner's to say. */
export interface ProjectionControlState {
  readonly requests: number;
}

export const projectionControl: Entity<ProjectionControlState, ProjectionEvents> = {
  category: 'projection',
  stateVersion: 1,
  initial: { requests: 0 },
  streamKey: (name) => name,
  knows: () => true,
  isLive: () => true,
  notFound: 'projection-not-found',
  evolve: ({ requests }) => ({ requests: requests + 1 }),
};

/** Whose an operator's request is: the operator's organization's. */
export function operatorTenant({ organizationId, partnerId }: Caller): Tenant {
  return { organizationId, projectId: null, partnerId };
}

/** No read model has this name. */
export function unknownProjection(name: string): Failure {
  return failure('projection-not-found', `There is no projection ${name}. See GET /v1/projections.`);
}
