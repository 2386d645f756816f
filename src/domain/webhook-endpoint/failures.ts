import type { FailureTexts } from '#domain/shared/failure.ts';

export const webhookEndpointFailures = {
  'webhook-endpoint-not-found': {
    status: 404,
    title: 'No such webhook endpoint',
    solution: 'List webhook endpoints with `GET /v1/webhook-endpoints`.',
  },
  'too-many-webhook-endpoints': {
    status: 409,
    title: 'There are too many webhook endpoints',
    solution:
      'Delete an endpoint that is not used, or ask the operator for a higher `MAX_WEBHOOK_ENDPOINTS_PER_PROJECT`.',
  },
  'webhook-key-lost': {
    status: 409,
    title: 'The key of the webhook endpoint’s secrets is lost',
    solution: 'Delete the endpoint and create it again: its secrets cannot be read any more.',
  },
  'too-many-webhook-tries': {
    status: 429,
    title: 'Too many tries of the webhook endpoint at once',
    solution: 'Wait for running tries of the endpoint before `POST /v1/webhook-endpoints/{id}/test`.',
  },
} as const satisfies FailureTexts;
