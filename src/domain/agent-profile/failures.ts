import type { FailureTexts } from '#domain/shared/failure.ts';

export const agentProfileFailures = {
  'agent-profile-not-found': {
    status: 404,
    title: 'No such agent profile',
    solution: 'List the agent profiles of the project with `GET /v1/projects/{projectId}/agent-profiles`.',
  },
  'default-agent-profile-required': {
    status: 409,
    title: 'The project must keep a default agent profile',
    solution: 'Make another agent profile the default first.',
  },
} as const satisfies FailureTexts;
