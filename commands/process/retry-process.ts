import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { operatedName, operatorRequest } from '#commands/shared/operator-request.ts';
import { newEvent } from '#domain/shared/event.ts';
import { failure as refused } from '#domain/shared/failure.ts';
import { processes } from './processes.ts';

export const retryProcess = operatorRequest(processes, {
  name: 'retry_process',
  summary: 'Let a stopped process retry its event',
  description: 'Fix the cause first.',
  verb: 'retry',
  input: t.type({ process: operatedName }),
  failures: ['process-not-stopped'],
  decide: ({ process }, { failure }) =>
    failure === null
      ? E.left(refused('process-not-stopped', 'It is running, so it has nothing to retry.'))
      : E.right([newEvent('ProcessRetried', { process })]),
});
