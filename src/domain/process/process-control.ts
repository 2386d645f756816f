import { type Failure, failure } from '#domain/shared/failure.ts';
import { operatorRequests } from '#domain/shared/operator-requests.ts';
import type { ProcessEvents } from './events.ts';

/** The operators' requests to one process. */
export const processControl = operatorRequests<ProcessEvents>('process', 'process-not-found');

/** No process has this name. */
export function unknownProcess(name: string): Failure {
  return failure('process-not-found', `There is no process ${name}. See GET /v1/processes.`);
}
