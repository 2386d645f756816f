import type { FailureTexts } from '#domain/shared/failure.ts';

export const templateFailures = {
  'template-not-found': {
    status: 404,
    title: 'No such template',
    solution: 'List templates with `GET /v1/templates`.',
  },
  'template-version-not-found': {
    status: 404,
    title: 'No such template version',
    solution: 'List the versions of the template with `GET /v1/templates/{templateId}/versions`.',
  },
  'template-archived': {
    status: 409,
    title: 'The template is archived',
    solution: 'Use another template: an archived one takes no changes, and no instance is made from it.',
  },
  'template-version-not-published': {
    status: 409,
    title: 'The template version is not published',
    solution: 'Publish the version first: `POST /v1/template-versions/{versionId}/publish`.',
  },
} as const satisfies FailureTexts;
