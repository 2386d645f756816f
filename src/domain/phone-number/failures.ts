import type { FailureTexts } from '#domain/shared/failure.ts';

export const phoneNumberFailures = {
  'phone-number-not-found': {
    status: 404,
    title: 'No such phone number',
    solution: 'List the phone numbers of the project with `GET /v1/projects/{projectId}/phone-numbers`.',
  },
  'phone-number-taken': {
    status: 409,
    title: 'The phone number is taken',
    solution: 'Use another number, or delete the phone number that has it.',
  },
} as const satisfies FailureTexts;
