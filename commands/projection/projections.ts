import type { ProjectionEvents } from '#domain/projection/events.ts';
import { projectionControl, unknownProjection } from '#domain/projection/projection-control.ts';
import type { ProjectionStanding } from '#operations/command.ts';
import type { Operated } from '../operator-request.ts';

/** The read models, as operators ask something of them. */
export const projections: Operated<'projection', ProjectionStanding, ProjectionEvents> = {
  parameter: 'projection',
  path: '/v1/projections',
  entity: projectionControl,
  status: (name, lookup) => lookup.projection(name),
  unknown: unknownProjection,
  exampleName: 'flows',
};
