import { flowHistory } from '#domain/flow/history.ts';
import { getHistory } from '#queries/shared/get-history.ts';

export const getFlowHistory = getHistory({
  name: 'get_flow_history',
  summary: 'Read the history of a flow and its versions',
  group: 'Flows',
  path: '/v1/flows/:flowId/history',
  scope: 'flows:read',
  parameter: 'flowId',
  notFound: 'flow-not-found',
  history: flowHistory,
});
