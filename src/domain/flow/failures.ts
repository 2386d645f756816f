import type { FailureTexts } from '#domain/shared/failure.ts';

export const flowFailures = {
  'flow-not-found': {
    status: 404,
    title: 'No such flow',
    solution: 'List the flows of the project with `GET /v1/projects/{projectId}/flows`.',
  },
  'flow-version-not-found': {
    status: 404,
    title: 'No such flow version',
    solution: 'List the versions of the flow with `GET /v1/flows/{flowId}/versions`.',
  },
  'flow-version-active': {
    status: 409,
    title: 'The flow version is the active one',
    solution: 'Activate another version first: `POST /v1/flow-versions/{versionId}/activate`.',
  },
  'flow-in-use': {
    status: 409,
    title: 'A phone number points at the flow',
    solution: 'Detach its phone numbers first: `PATCH /v1/phone-numbers/{phoneNumberId}/flow` with `flowId: null`.',
  },
} as const satisfies FailureTexts;
