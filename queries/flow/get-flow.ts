import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { cuid } from '#domain/codecs.ts';
import { examples } from '#domain/examples.ts';
import { FlowRecord } from '#domain/flow/record.ts';
import { get } from '#operations/operation.ts';
import { query } from '#operations/query.ts';
import { type FlowDocument, flows } from '#projections/flows.ts';

export const getFlow = query<{ flowId: string }, FlowDocument, FlowRecord>({
  name: 'get_flow',
  summary: 'Read a flow',
  group: 'Flows',
  http: get('/v1/flows/:flowId'),
  scope: 'flows:read',
  input: t.type({ flowId: cuid }),
  output: FlowRecord,
  failures: ['flow-not-found'],
  example: { output: examples.flow },
  reads: [flows.name],
  subject: { collection: flows.name, parameter: 'flowId', notFound: 'flow-not-found' },
  hasRevision: true,
  answer: ({ subject: { value } }) => E.right({ body: value.record, revision: value.revision }),
});
