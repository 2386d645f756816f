import { entityHistory, type ResourceName } from '#domain/history/listed-event.ts';
import type { OperatorRequestsState } from '#domain/shared/operator-requests.ts';
import type { ProjectionEvents } from './projection-control.ts';
import { projectionControl } from './projection-control.ts';

const itself = ({ projection }: { readonly projection: string }): ResourceName => ({
  kind: 'projection',
  id: projection,
});

/** The history entries of operators' requests to a projection. */
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
