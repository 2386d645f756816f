import { examples } from '#domain/examples.ts';
import { FlowRecord } from '#domain/flow/record.ts';
import { flows } from '#projections/flows.ts';
import { oneResource } from '../one-resource.ts';

export const getFlow = oneResource({
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
});
