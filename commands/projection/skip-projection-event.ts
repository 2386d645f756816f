import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { text } from '#domain/codecs.ts';
import { happened } from '#domain/event.ts';
import { failure } from '#domain/failure.ts';
import { operatorTenant, projectionControl, unknownProjection } from '#domain/projection/projection-control.ts';
import { command } from '#operations/command.ts';
import { post } from '#operations/operation.ts';

export const skipProjectionEvent = command({
  name: 'skip_projection_event',
  summary: 'Let a stopped read model leave out the event that stopped it',
  description: 'Name the event, as GET /v1/projections shows it. The read model is then without it.',
  group: 'Operations',
  http: post('/v1/projections/:projection/skip'),
  scope: 'operations:write',
  input: t.type({ projection: text({ min: 1, max: 100 }), eventId: text({ min: 1, max: 100 }) }),
  output: t.type({ projection: text() }),
  failures: ['projection-not-found', 'projection-not-stopped'],
  example: { input: { eventId: '0b9c1c34-6f0e-4a55-9f3e-2d1f5a8c7e61' }, output: { projection: 'flows' } },
  entity: projectionControl,
  subject: null,
  newId: ({ projection }) => projection,
  also: ({ projection }, { lookup }) => lookup.projection(projection),
  tenant: (_, { caller }) => operatorTenant(caller),
  decide: ({ projection, eventId }, _, { also: status }) => {
    if (status === null) return E.left(unknownProjection(projection));
    if (status.failure?.eventId !== eventId) {
      return E.left(
        failure('projection-not-stopped', `It is not stopped at event ${eventId}. See GET /v1/projections.`),
      );
    }
    return E.right([happened('ProjectionEventSkipped', { projection, eventId })]);
  },
  answer: ({ input }) => ({ projection: input.projection }),
  withoutRevision: true,
});
