import type { FailureTexts } from '#domain/shared/failure.ts';

export const organizationFailures = {
  'organization-not-found': {
    status: 404,
    title: 'No such organization',
    solution: 'List organizations with `GET /v1/organizations`.',
  },
  'customer-not-found': {
    status: 404,
    title: 'No such customer',
    solution: 'List the customers of the partner with `GET /v1/partner/customers`.',
  },
  'organization-not-partner': {
    status: 409,
    title: 'The organization is not a partner',
    solution: 'Use an organization that was created with `partner: true`.',
  },
} as const satisfies FailureTexts;
