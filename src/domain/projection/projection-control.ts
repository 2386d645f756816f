import { type Failure, failure } from '#domain/shared/failure.ts';
import { operatorRequests } from '#domain/shared/operator-requests.ts';
import type { ProjectionEvents } from './events.ts';

/** The operators' requests to one projection. */
export const projectionControl = operatorRequests<ProjectionEvents>('projection', 'projection-not-found');

/** No read model has this name. */
export function unknownProjection(name: string): Failure {
  return failure('projection-not-found', `There is no projection ${name}. See GET /v1/projections.`);
}
