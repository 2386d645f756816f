import * as t from 'io-ts';
import { type Failure, failure } from '#domain/shared/failure.ts';
import { operatorRequests } from '#domain/shared/operator-requests.ts';

/** Operators' requests to a projection. The runner follows them when it reads them from the log. */
export const projectionEvents = {
  ProjectionRebuildRequested: t.type({ projection: t.string }),
  ProjectionRetried: t.type({ projection: t.string }),
  ProjectionEventSkipped: t.type({ projection: t.string, eventId: t.string }),
};

export type ProjectionEvents = { [Type in keyof typeof projectionEvents]: t.TypeOf<(typeof projectionEvents)[Type]> };

/** The operators' requests to one projection. */
export const projectionControl = operatorRequests<ProjectionEvents>('projection', 'projection-not-found');

/** No read model has this name. */
export function unknownProjection(name: string): Failure {
  return failure('projection-not-found', `There is no projection ${name}. See GET /v1/projections.`);
}
