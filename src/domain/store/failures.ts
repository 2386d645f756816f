import type { FailureTexts } from '#domain/shared/failure.ts';

export const storeFailures = {
  'store-not-found': {
    status: 404,
    title: 'No such store',
    solution: 'List the stores of the project with `GET /v1/stores`.',
  },
} as const satisfies FailureTexts;
