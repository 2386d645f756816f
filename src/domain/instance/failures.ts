import type { FailureTexts } from '#domain/shared/failure.ts';

export const instanceFailures = {
  'instance-not-found': {
    status: 404,
    title: 'No such instance',
    solution: 'List instances with `GET /v1/instances`.',
  },
  'phone-number-requirement-not-found': {
    status: 404,
    title: 'No such phone number requirement',
    solution: 'Use a `key` of `phoneNumberRequirements` in the template version of the instance.',
  },
  'template-version-not-newer': {
    status: 409,
    title: 'The template version is not newer',
    solution: 'Upgrade to a version with a higher number than that of the instance.',
  },
  'template-version-of-another-template': {
    status: 409,
    title: 'The template version is of another template',
    solution: 'Use a version of the template that the instance was created from.',
  },
  'instance-drifted': {
    status: 409,
    title: 'The instance was changed by hand',
    solution: 'See `drifted` of `GET /v1/instances/{instanceId}`, or upgrade with `onDrift: "replace"`.',
  },
  'nothing-to-retry': {
    status: 409,
    title: 'No operation of the instance failed',
    solution: 'Read `lastOperation` of `GET /v1/instances/{instanceId}`: only a failed one can be retried.',
  },
} as const satisfies FailureTexts;
