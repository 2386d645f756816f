import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { operatedName, operatorRequest } from '#commands/shared/operator-request.ts';
import { newEvent } from '#domain/shared/event.ts';
import { failure } from '#domain/shared/failure.ts';
import { projections } from './projections.ts';

export const rebuildProjection = operatorRequest(projections, {
  name: 'rebuild_projection',
  summary: 'Rebuild a read model',
  description: 'The current read model answers queries until the new one is complete and replaces it.',
  verb: 'rebuild',
  input: t.type({ projection: operatedName }),
  failures: ['projection-rebuilding'],
  decide: ({ projection }, { rebuild }) =>
    rebuild === null
      ? E.right([newEvent('ProjectionRebuildRequested', { projection })])
      : E.left(failure('projection-rebuilding', 'A rebuild of it is running. See GET /v1/projections.')),
});
