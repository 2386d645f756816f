import * as t from 'io-ts';
import { entityHistory } from '#domain/history/listed-event.ts';
import type { ResourceName } from '#domain/history/record.ts';
import { type Failure, failure } from '#domain/shared/failure.ts';
import { type OperatorRequestsState, operatorRequests } from './operator-requests.ts';

/** Requests to a stopped process. Its runner follows them when it reads them from the log. */
export const processEvents = {
  ProcessRetried: t.type({ process: t.string }),
  ProcessEventSkipped: t.type({ process: t.string, eventId: t.string }),
};

export type ProcessEvents = { [Type in keyof typeof processEvents]: t.TypeOf<(typeof processEvents)[Type]> };

export const processControl = operatorRequests<ProcessEvents>('process', 'process-not-found');

export function unknownProcess(name: string): Failure {
  return failure('process-not-found', `There is no process ${name}. See GET /v1/processes.`);
}

const itself = ({ process }: { readonly process: string }): ResourceName => ({ kind: 'process', id: process });

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
