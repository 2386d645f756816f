import { WebhookEndpointRecord, WebhookEndpointStatus } from '#domain/webhook-endpoint/record.ts';
import { webhookEndpoints } from '#projections/webhook-endpoints.ts';
import { listAccessible } from '#queries/shared/list-accessible.ts';

export const listWebhookEndpoints = listAccessible({
  name: 'list_webhook_endpoints',
  summary: 'List the webhook endpoints that the key has access to',
  group: 'Webhooks',
  path: '/v1/webhook-endpoints',
  scope: 'webhooks:read',
  member: 'webhookEndpoints',
  record: WebhookEndpointRecord,
  example: WebhookEndpointRecord.example,
  collection: webhookEndpoints,
  filters: { status: WebhookEndpointStatus },
});
