import type { FlowVersionRecord } from '#domain/flow/record.ts';
import { flowVersions } from '#projections/flow-versions.ts';
import { diffVersions } from '#queries/shared/diff-versions.ts';

export const diffFlowVersions = diffVersions<FlowVersionRecord>({
  name: 'diff_flow_versions',
  summary: 'Compare two flow versions',
  description:
    'A JSON Patch from the flowSchema of the first version to that of the second, empty if they are equal, and a ' +
    'summary in words, which names the changed nodes of a graph by their ids.',
  group: 'Flow versions',
  path: '/v1/flow-versions/:versionId/diff/:otherVersionId',
  scope: 'flows:read',
  notFound: 'flow-version-not-found',
  collection: flowVersions,
  example: {
    patch: [{ op: 'replace', path: '/nodes/greet/say', value: 'Good evening, front desk.' }],
    summary: 'Nodes changed: greet.',
  },
  kind: 'flow-version',
});
