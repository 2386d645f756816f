import type { FailureTexts } from '#domain/shared/failure.ts';

export const usageFailures = {
  'call-not-found': {
    status: 404,
    title: 'No such call',
    solution:
      'List the calls of the project with `GET /v1/gateway/calls`; a call appears about a second after its end.',
  },
  'usage-not-archived': {
    status: 409,
    title: 'The metering of a day cannot be archived',
    solution: 'Repeat `npm run events -- archive`, which says what is wrong with the day.',
  },
  'usage-too-recent': {
    status: 422,
    title: 'The days are too recent to be archived',
    solution: 'Archive days that `detail` allows: the last ones stay in the log.',
  },
} as const satisfies FailureTexts;
