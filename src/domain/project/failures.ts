import type { FailureTexts } from '#domain/shared/failure.ts';

export const projectFailures = {
  'project-not-found': {
    status: 404,
    title: 'No such project',
    solution: 'List the projects of the key with `GET /v1/projects`.',
  },
} as const satisfies FailureTexts;
