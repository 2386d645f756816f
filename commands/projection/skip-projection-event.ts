import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { operatedName, operatorRequest, skippedEventId } from '#commands/shared/operator-request.ts';
import { newEvent } from '#domain/shared/event.ts';
import { failure as refused } from '#domain/shared/failure.ts';
import { projections } from './projections.ts';

export const skipProjectionEvent = operatorRequest(projections, {
  name: 'skip_projection_event',
  summary: 'Let a stopped read model skip the event that stopped it',
  description: 'Name the event that GET /v1/projections shows. The read model then does not include this event.',
  verb: 'skip',
  input: t.type({ projection: operatedName, eventId: skippedEventId }),
  failures: ['projection-not-stopped'],
  effect: { isDestructive: true },
  exampleInput: { eventId: '0b9c1c34-6f0e-4a55-9f3e-2d1f5a8c7e61' },
  decide: ({ projection, eventId }, { failure }) =>
    failure?.eventId === eventId
      ? E.right([newEvent('ProjectionEventSkipped', { projection, eventId })])
      : E.left(refused('projection-not-stopped', `It is not stopped at event ${eventId}. See GET /v1/projections.`)),
});
