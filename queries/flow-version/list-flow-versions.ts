import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { cuid } from '#domain/codecs.ts';
import { examples } from '#domain/examples.ts';
import { FlowVersionRecord } from '#domain/flow/record.ts';
import { get } from '#operations/operation.ts';
import { listPage, nextCursorOutput, pageInput } from '#operations/paging.ts';
import { query } from '#operations/query.ts';
import { type FlowVersionDocument, flowVersions } from '#projections/flow-versions.ts';
import { type FlowDocument, flows } from '#projections/flows.ts';

const Input = t.intersection([t.type({ flowId: cuid }), t.partial(pageInput)]);
const Output = t.intersection([t.type({ versions: t.readonlyArray(FlowVersionRecord) }), nextCursorOutput]);

export const listFlowVersions = query<t.TypeOf<typeof Input>, FlowDocument, t.TypeOf<typeof Output>>({
  name: 'list_flow_versions',
  summary: "List a flow's versions",
  group: 'Flow versions',
  http: get('/v1/flows/:flowId/versions'),
  scope: 'flows:read',
  input: Input,
  output: Output,
  failures: ['flow-not-found'],
  example: { output: { versions: [examples.flowVersion] } },
  reads: [flowVersions.name, flows.name],
  subject: { collection: flows.name, parameter: 'flowId', notFound: 'flow-not-found' },
  paged: true,
  answer: async ({ input, subject, documents }) =>
    E.right(
      await listPage(documents, {
        collection: flowVersions.name,
        where: { flowId: subject.id },
        input,
        name: 'versions',
        item: ({ value }: { value: FlowVersionDocument }) => value.record,
      }),
    ),
});
