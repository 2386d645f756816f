import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { text } from '#domain/codecs.ts';
import { happened } from '#domain/event.ts';
import { failure } from '#domain/failure.ts';
import { operatorTenant, projectionControl, unknownProjection } from '#domain/projection/projection-control.ts';
import { command } from '#operations/command.ts';
import { post } from '#operations/operation.ts';

export const retryProjection = command({
  name: 'retry_projection',
  summary: 'Let a stopped read model try its event again',
  description: 'After what stopped it was mended.',
  group: 'Operations',
  http: post('/v1/projections/:projection/retry'),
  scope: 'operations:write',
  input: t.type({ projection: text({ min: 1, max: 100 }) }),
  output: t.type({ projection: text() }),
  failures: ['projection-not-found', 'projection-not-stopped'],
  example: { output: { projection: 'flows' } },
  entity: projectionControl,
  subject: null,
  newId: ({ projection }) => projection,
  also: ({ projection }, { lookup }) => lookup.projection(projection),
  tenant: (_, { caller }) => operatorTenant(caller),
  decide: ({ projection }, _, { also: status }) => {
    if (status === null) return E.left(unknownProjection(projection));
    if (status.failure === null)
      return E.left(failure('projection-not-stopped', 'It runs: there is nothing to retry.'));
    return E.right([happened('ProjectionRetried', { projection })]);
  },
  answer: ({ input }) => ({ projection: input.projection }),
  withoutRevision: true,
});
