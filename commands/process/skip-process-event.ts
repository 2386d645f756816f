import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { operatedName, operatorRequest, skippedEventId } from '#commands/shared/operator-request.ts';
import { newEvent } from '#domain/shared/event.ts';
import { failure as refused } from '#domain/shared/failure.ts';
import { processes } from './processes.ts';

export const skipProcessEvent = operatorRequest(processes, {
  name: 'skip_process_event',
  summary: 'Let a stopped process skip the event that stopped it',
  description: 'Name the event that GET /v1/processes shows. The process then does nothing about this event.',
  verb: 'skip',
  input: t.type({ process: operatedName, eventId: skippedEventId }),
  failures: ['process-not-stopped'],
  effect: { isDestructive: true },
  exampleInput: { eventId: '0b9c1c34-6f0e-4a55-9f3e-2d1f5a8c7e61' },
  decide: ({ process, eventId }, { failure }) =>
    failure?.eventId === eventId
      ? E.right([newEvent('ProcessEventSkipped', { process, eventId })])
      : E.left(refused('process-not-stopped', `It is not stopped at event ${eventId}. See GET /v1/processes.`)),
});
