import type { FailureTexts } from '#domain/shared/failure.ts';

export const historyFailures = {
  'no-digest': {
    status: 404,
    title: 'There is no digest',
    solution: 'Write the first digest with `POST /v1/digests`, or wait for the next one.',
  },
  'digest-refused': {
    status: 409,
    title: 'No digest can be written of this log',
    solution: 'Run `npm run events -- verify`, which says where the log is not whole.',
  },
} as const satisfies FailureTexts;
