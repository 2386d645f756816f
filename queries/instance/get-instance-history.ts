import { instanceHistory } from '#domain/instance/history.ts';
import { getHistory } from '#queries/shared/get-history.ts';

export const getInstanceHistory = getHistory({
  name: 'get_instance_history',
  summary: 'Read the history of an instance',
  group: 'Instances',
  path: '/v1/instances/:instanceId/history',
  scope: 'instances:read',
  parameter: 'instanceId',
  notFound: 'instance-not-found',
  history: instanceHistory,
});
