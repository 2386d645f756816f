import * as t from 'io-ts';
import { type Failure, failure } from '#domain/shared/failure.ts';
import { operatorRequests } from '#domain/shared/operator-requests.ts';

/** Operators' requests to a stopped process. Its runner follows them when it reads them from the log. */
export const processEvents = {
  ProcessRetried: t.type({ process: t.string }),
  ProcessEventSkipped: t.type({ process: t.string, eventId: t.string }),
};

export type ProcessEvents = { [Type in keyof typeof processEvents]: t.TypeOf<(typeof processEvents)[Type]> };

/** The operators' requests to one process. */
export const processControl = operatorRequests<ProcessEvents>('process', 'process-not-found');

/** No process has this name. */
export function unknownProcess(name: string): Failure {
  return failure('process-not-found', `There is no process ${name}. See GET /v1/processes.`);
}
