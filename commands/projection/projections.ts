import type { ProjectionSummary } from '#application/commands/command.ts';
import type { OperatorRequestOptions } from '#commands/shared/operator-request.ts';
import type { ProjectionEvents } from '#domain/projection/events.ts';
import { projectionControl, unknownProjection } from '#domain/projection/projection-control.ts';

/** The read models, for the requests of operators. */
export const projections: OperatorRequestOptions<'projection', ProjectionSummary, ProjectionEvents> = {
  parameter: 'projection',
  path: '/v1/projections',
  entity: projectionControl,
  status: (name, lookup) => lookup.projection(name),
  unknown: unknownProjection,
  exampleName: 'flows',
};
