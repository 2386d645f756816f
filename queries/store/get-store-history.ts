import { storeHistory } from '#domain/store/history.ts';
import { getHistory } from '#queries/shared/get-history.ts';

export const getStoreHistory = getHistory({
  name: 'get_store_history',
  summary: 'Read the history of a knowledge store',
  group: 'Stores',
  plane: 'gateway',
  path: '/v1/stores/:store_id/history',
  scope: 'stores:read',
  parameter: 'store_id',
  notFound: 'store-not-found',
  history: storeHistory,
});
