import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { operatedName, operatorRequest } from '#commands/shared/operator-request.ts';
import { newEvent } from '#domain/shared/event.ts';
import { failure as refused } from '#domain/shared/failure.ts';
import { projections } from './projections.ts';

export const retryProjection = operatorRequest(projections, {
  name: 'retry_projection',
  summary: 'Let a stopped read model retry its event',
  description: 'Fix the cause first.',
  verb: 'retry',
  input: t.type({ projection: operatedName }),
  failures: ['projection-not-stopped'],
  decide: ({ projection }, { failure }) =>
    failure === null
      ? E.left(refused('projection-not-stopped', 'It is running, so it has nothing to retry.'))
      : E.right([newEvent('ProjectionRetried', { projection })]),
});
