import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { examples } from '#domain/examples.ts';
import { ProjectRecord } from '#domain/project/record.ts';
import type { Tenant } from '#domain/tenancy.ts';
import { get } from '#operations/operation.ts';
import { listPage, nextCursorOutput, pageInput } from '#operations/paging.ts';
import { query } from '#operations/query.ts';
import { type ProjectDocument, projects } from '#projections/projects.ts';
import { withinReach } from '../within-reach.ts';

const Input = t.partial(pageInput);
const Output = t.intersection([t.type({ projects: t.readonlyArray(ProjectRecord) }), nextCursorOutput]);

export const listProjects = query<t.TypeOf<typeof Input>, Tenant, t.TypeOf<typeof Output>>({
  name: 'list_projects',
  summary: 'List the projects that the key reaches',
  group: 'Projects',
  http: get('/v1/projects'),
  scope: 'projects:read',
  input: Input,
  output: Output,
  failures: [],
  example: { output: { projects: [examples.project] } },
  reads: [projects.name],
  subject: null,
  paged: true,
  answer: async ({ input, caller, documents }) =>
    E.right(
      await listPage(documents, {
        collection: projects.name,
        where: withinReach(caller),
        input,
        name: 'projects',
        item: ({ value }: { value: ProjectDocument }) => value.record,
      }),
    ),
});
