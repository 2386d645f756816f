import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { cuid } from '#domain/codecs.ts';
import { examples } from '#domain/examples.ts';
import { FlowRecord } from '#domain/flow/record.ts';
import { get } from '#operations/operation.ts';
import { listPage, nextCursorOutput, pageInput } from '#operations/paging.ts';
import { query } from '#operations/query.ts';
import { type FlowDocument, flows } from '#projections/flows.ts';
import { type ProjectDocument, projects } from '#projections/projects.ts';

const Input = t.intersection([t.type({ projectId: cuid }), t.partial(pageInput)]);
const Output = t.intersection([t.type({ flows: t.readonlyArray(FlowRecord) }), nextCursorOutput]);

export const listFlows = query<t.TypeOf<typeof Input>, ProjectDocument, t.TypeOf<typeof Output>>({
  name: 'list_flows',
  summary: "List a project's flows",
  group: 'Flows',
  http: get('/v1/projects/:projectId/flows'),
  scope: 'flows:read',
  input: Input,
  output: Output,
  failures: ['project-not-found'],
  example: { output: { flows: [examples.flow] } },
  reads: [flows.name, projects.name],
  subject: { collection: projects.name, parameter: 'projectId', notFound: 'project-not-found' },
  paged: true,
  answer: async ({ input, subject, documents }) =>
    E.right(
      await listPage(documents, {
        collection: flows.name,
        where: { projectId: subject.id },
        input,
        name: 'flows',
        item: ({ value }: { value: FlowDocument }) => value.record,
      }),
    ),
});
