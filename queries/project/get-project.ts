import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { cuid } from '#domain/codecs.ts';
import { examples } from '#domain/examples.ts';
import { ProjectRecord } from '#domain/project/record.ts';
import { get } from '#operations/operation.ts';
import { query } from '#operations/query.ts';
import { type ProjectDocument, projects } from '#projections/projects.ts';

export const getProject = query<{ projectId: string }, ProjectDocument, ProjectRecord>({
  name: 'get_project',
  summary: 'Read a project',
  group: 'Projects',
  http: get('/v1/projects/:projectId'),
  scope: 'projects:read',
  input: t.type({ projectId: cuid }),
  output: ProjectRecord,
  failures: ['project-not-found'],
  example: { output: examples.project },
  reads: [projects.name],
  subject: { collection: projects.name, parameter: 'projectId', notFound: 'project-not-found' },
  hasRevision: true,
  answer: ({ subject: { value } }) => E.right({ body: value.record, revision: value.revision }),
});
