import { entityHistory, type ResourceName } from '#domain/history/listed-event.ts';
import type { OperatorRequestsState } from '#domain/shared/operator-requests.ts';
import type { ProcessEvents } from './process-control.ts';
import { processControl } from './process-control.ts';

const itself = ({ process }: { readonly process: string }): ResourceName => ({ kind: 'process', id: process });

/** The history entries of operators' requests to a process. */
export const processHistory = entityHistory<OperatorRequestsState, ProcessEvents>({
  entity: processControl,
  events: {
    ProcessRetried: { resource: itself, summary: ({ process }) => `The process ${process} was tried again.` },
    ProcessEventSkipped: {
      resource: itself,
      summary: ({ process, eventId }) => `The process ${process} was made to skip the event ${eventId}.`,
    },
  },
  record: async () => null,
});
