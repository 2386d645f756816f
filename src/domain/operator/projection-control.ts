import * as t from 'io-ts';
import { entityHistory } from '#domain/history/listed-event.ts';
import type { ResourceName } from '#domain/history/record.ts';
import { type Failure, failure } from '#domain/shared/failure.ts';
import { type OperatorRequestsState, operatorRequests } from './operator-requests.ts';

/** Requests to a projection. The runner follows them when it reads them from the log. */
export const projectionEvents = {
  ProjectionRebuildRequested: t.type({ projection: t.string }),
  ProjectionRetried: t.type({ projection: t.string }),
  ProjectionEventSkipped: t.type({ projection: t.string, eventId: t.string }),
};

export type ProjectionEvents = { [Type in keyof typeof projectionEvents]: t.TypeOf<(typeof projectionEvents)[Type]> };

export const projectionControl = operatorRequests<ProjectionEvents>('projection', 'projection-not-found');

export function unknownProjection(name: string): Failure {
  return failure('projection-not-found', `There is no projection ${name}. See GET /v1/projections.`);
}

const itself = ({ projection }: { readonly projection: string }): ResourceName => ({
  kind: 'projection',
  id: projection,
});

export const projectionHistory = entityHistory<OperatorRequestsState, ProjectionEvents>({
  entity: projectionControl,
  events: {
    ProjectionRebuildRequested: {
      resource: itself,
      summary: ({ projection }) => `A rebuild of the projection ${projection} was requested.`,
    },
    ProjectionRetried: {
      resource: itself,
      summary: ({ projection }) => `The projection ${projection} was tried again.`,
    },
    ProjectionEventSkipped: {
      resource: itself,
      summary: ({ projection, eventId }) => `The projection ${projection} was made to skip the event ${eventId}.`,
    },
  },
  record: async () => null,
});
