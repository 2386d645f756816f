import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { cuid } from '#domain/codecs.ts';
import { examples } from '#domain/examples.ts';
import { failure } from '#domain/failure.ts';
import { FlowVersionRecord } from '#domain/flow/record.ts';
import { get } from '#operations/operation.ts';
import { query } from '#operations/query.ts';
import { type FlowVersionDocument, flowVersions } from '#projections/flow-versions.ts';
import { type FlowDocument, flows } from '#projections/flows.ts';

export const getFlowVersion = query<{ versionId: string }, FlowVersionDocument, FlowVersionRecord>({
  name: 'get_flow_version',
  summary: 'Read a flow version',
  group: 'Flow versions',
  http: get('/v1/flow-versions/:versionId'),
  scope: 'flows:read',
  input: t.type({ versionId: cuid }),
  output: FlowVersionRecord,
  failures: ['flow-version-not-found'],
  example: { output: examples.flowVersion },
  reads: [flowVersions.name, flows.name],
  subject: { collection: flowVersions.name, parameter: 'versionId', notFound: 'flow-version-not-found' },
  hasRevision: true,
  answer: async ({ input, subject, documents }) => {
    const flow = await documents.get<FlowDocument>(flows.name, subject.value.flowId);
    // After the flow, so that the ETag is never newer than what stands beside it: an If-Match would undo unseen changes.
    const version = await documents.get<FlowVersionDocument>(flowVersions.name, input.versionId, 'fresh');
    if (flow === null || version === null) return E.left(deleted(input.versionId));
    return E.right({ body: version.value.record, revision: flow.value.revision });
  },
});

const deleted = (id: string) => failure('flow-version-not-found', `There is no flow version ${id} any more.`);
