import { webhookEndpointHistory } from '#domain/webhook-endpoint/history.ts';
import { getHistory } from '#queries/shared/get-history.ts';

export const getWebhookEndpointHistory = getHistory({
  name: 'get_webhook_endpoint_history',
  summary: 'Read the history of a webhook endpoint',
  group: 'Webhooks',
  path: '/v1/webhook-endpoints/:webhookEndpointId/history',
  scope: 'webhooks:read',
  parameter: 'webhookEndpointId',
  notFound: 'webhook-endpoint-not-found',
  history: webhookEndpointHistory,
});
