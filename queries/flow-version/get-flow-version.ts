import { flowVersion } from '#domain/flow/flow.ts';
import { flowHistory } from '#domain/flow/history.ts';
import { FlowVersionRecord } from '#domain/flow/record.ts';
import { type FlowVersionDocument, flowVersions } from '#projections/flow-versions.ts';
import { flows } from '#projections/flows.ts';
import { getVersion } from '#queries/shared/get-version.ts';

export const getFlowVersion = getVersion<FlowVersionDocument, FlowVersionRecord>({
  name: 'get_flow_version',
  summary: 'Read a flow version',
  group: 'Flow versions',
  path: '/v1/flow-versions/:versionId',
  scope: 'flows:read',
  record: FlowVersionRecord,
  notFound: 'flow-version-not-found',
  example: FlowVersionRecord.example,
  collection: flowVersions,
  of: { collection: flows, id: ({ flowId }) => flowId },
  past: { history: flowHistory, entity: flowVersion, kind: 'flow-version' },
});
