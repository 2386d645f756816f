import type { StoppableStatus } from '#application/commands/command.ts';
import type { OperatorRequestOptions } from '#commands/shared/operator-request.ts';
import type { ProcessEvents } from '#domain/process/events.ts';
import { processControl, unknownProcess } from '#domain/process/process-control.ts';

/** The processes, for the requests of operators. */
export const processes: OperatorRequestOptions<'process', StoppableStatus, ProcessEvents> = {
  parameter: 'process',
  path: '/v1/processes',
  entity: processControl,
  status: (name, lookup) => lookup.process(name),
  unknown: unknownProcess,
  exampleName: 'detach-phone-numbers',
};
