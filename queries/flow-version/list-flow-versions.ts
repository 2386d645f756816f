import { type FlowState, flow, liveVersions } from '#domain/flow/flow.ts';
import { flowHistory } from '#domain/flow/history.ts';
import { FlowVersionRecord } from '#domain/flow/record.ts';
import { flowVersions } from '#projections/flow-versions.ts';
import { flows } from '#projections/flows.ts';
import { listByParent } from '#queries/shared/list-by-parent.ts';

export const listFlowVersions = listByParent({
  name: 'list_flow_versions',
  summary: "List a flow's versions",
  group: 'Flow versions',
  path: '/v1/flows/:flowId/versions',
  scope: 'flows:read',
  owner: { collection: flows, parameter: 'flowId', notFound: 'flow-not-found' },
  member: 'versions',
  record: FlowVersionRecord,
  example: FlowVersionRecord.example,
  collection: flowVersions,
  past: {
    history: flowHistory,
    entity: flow,
    items: (state: FlowState) =>
      liveVersions(state).map(({ id, version }) => ({ number: version, resource: { kind: 'flow-version', id } })),
  },
});
