import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { text } from '#domain/codecs.ts';
import { happened } from '#domain/event.ts';
import { failure } from '#domain/failure.ts';
import { operatorTenant, projectionControl, unknownProjection } from '#domain/projection/projection-control.ts';
import { command } from '#operations/command.ts';
import { post } from '#operations/operation.ts';

export const rebuildProjection = command({
  name: 'rebuild_projection',
  summary: 'Rebuild a read model',
  description: 'It is filled anew beside the one that answers, then takes its place.',
  group: 'Operations',
  http: post('/v1/projections/:projection/rebuild'),
  scope: 'operations:write',
  input: t.type({ projection: text({ min: 1, max: 100 }) }),
  output: t.type({ projection: text() }),
  failures: ['projection-not-found', 'projection-rebuilding'],
  example: { output: { projection: 'flows' } },
  entity: projectionControl,
  subject: null,
  newId: ({ projection }) => projection,
  also: ({ projection }, { lookup }) => lookup.projection(projection),
  tenant: (_, { caller }) => operatorTenant(caller),
  decide: ({ projection }, _, { also: status }) => {
    if (status === null) return E.left(unknownProjection(projection));
    if (status.rebuild !== null) {
      return E.left(failure('projection-rebuilding', 'It is being rebuilt already. See GET /v1/projections.'));
    }
    return E.right([happened('ProjectionRebuildRequested', { projection })]);
  },
  answer: ({ input }) => ({ projection: input.projection }),
  withoutRevision: true,
});
