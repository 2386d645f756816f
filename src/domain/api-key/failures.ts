import type { FailureTexts } from '#domain/shared/failure.ts';

export const apiKeyFailures = {
  'key-required': {
    status: 401,
    title: 'An API key is required',
    solution: 'Send `Authorization: Bearer <API key>` or `x-api-key: <API key>`.',
  },
  'key-invalid': {
    status: 401,
    title: 'The API key is not valid',
    solution:
      'Check the key with `GET /v1/me`; make a new one with `POST /v1/projects/{projectId}/keys` if it was revoked or has expired.',
  },
  'scope-required': {
    status: 403,
    title: 'The API key lacks a scope',
    solution: 'Use a key whose `scopes` have what `detail` names: `POST /v1/projects/{projectId}/keys` with `scopes`.',
  },
  'key-type-not-allowed': {
    status: 403,
    title: 'This type of API key may not do this',
    solution: 'Use a key of a type that `detail` names; `GET /v1/me` shows the type of yours.',
  },
  'origin-not-allowed': {
    status: 403,
    title: 'Pages of this origin may not call',
    solution: 'Ask the operator to add the origin of the page to `MCP_ALLOWED_ORIGINS`.',
  },
  'key-not-found': {
    status: 404,
    title: 'No such API key',
    solution: 'List the keys of the project with `GET /v1/projects/{projectId}/keys`.',
  },
} as const satisfies FailureTexts;
