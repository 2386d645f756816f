import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { cuid } from '#domain/codecs.ts';
import { examples } from '#domain/examples.ts';
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
  answer: async ({ subject: { value }, documents }) => {
    const flow = await documents.get<FlowDocument>(flows.name, value.flowId);
    return E.right({ body: value.record, ...(flow === null ? {} : { revision: flow.value.revision }) });
  },
});
