import type { FailureTexts } from '#domain/shared/failure.ts';

export const operatorFailures = {
  'process-not-found': {
    status: 404,
    title: 'No such process',
    solution: 'List processes with `GET /v1/processes` or `npm run processes`.',
  },
  'projection-not-found': {
    status: 404,
    title: 'No such projection',
    solution: 'List projections with `GET /v1/projections` or `npm run projections`.',
  },
  'process-not-stopped': {
    status: 409,
    title: 'The process is not stopped',
    solution: 'Nothing needs to be done for a process that runs: `GET /v1/processes` shows its state.',
  },
  'projection-not-stopped': {
    status: 409,
    title: 'The projection is not stopped',
    solution: 'Nothing needs to be done for a read model that runs: `GET /v1/projections` shows its state.',
  },
  'event-not-stopped': {
    status: 409,
    title: 'No failure is shown at the event',
    solution: 'Name the position of a `failure` that `GET /v1/projections` or `GET /v1/processes` shows.',
  },
  'projection-rebuilding': {
    status: 409,
    title: 'The projection is being rebuilt',
    solution: 'Wait until `rebuild` of `GET /v1/projections` is null.',
  },
} as const satisfies FailureTexts;
