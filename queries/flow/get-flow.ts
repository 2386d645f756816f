import { flow } from '#domain/flow/flow.ts';
import { flowHistory } from '#domain/flow/history.ts';
import { FlowRecord } from '#domain/flow/record.ts';
import { examples } from '#domain/shared/examples.ts';
import { flows } from '#projections/flows.ts';
import { getById } from '#queries/shared/get-by-id.ts';

export const getFlow = getById({
  name: 'get_flow',
  summary: 'Read a flow',
  group: 'Flows',
  path: '/v1/flows/:flowId',
  scope: 'flows:read',
  parameter: 'flowId',
  record: FlowRecord,
  notFound: 'flow-not-found',
  example: examples.flow,
  collection: flows,
  past: { history: flowHistory, entity: flow, kind: 'flow' },
});
