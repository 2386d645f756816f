import { apiKeyHistory } from '#domain/api-key/history.ts';
import { getHistory } from '#queries/shared/get-history.ts';

export const getApiKeyHistory = getHistory({
  name: 'get_api_key_history',
  summary: 'Read the history of an API key',
  group: 'API keys',
  path: '/v1/keys/:keyId/history',
  scope: 'keys:read',
  parameter: 'keyId',
  notFound: 'key-not-found',
  history: apiKeyHistory,
});
