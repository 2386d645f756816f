import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { command } from '#application/commands/command.ts';
import { patch } from '#application/operations/operation.ts';
import { cuid } from '#domain/codecs/id.ts';
import { project, projectRecord } from '#domain/project/project.ts';
import { ProjectRecord } from '#domain/project/record.ts';
import { newEvent } from '#domain/shared/event.ts';
import { refersTo } from '#domain/shared/text-reference.ts';
import { text } from '#shared/codecs/text.ts';

export const updateProject = command({
  about: {
    name: 'update_project',
    summary: 'Rename a project',
    group: 'Projects',
    example: { input: { name: 'Front desk, nights' }, output: ProjectRecord.example },
  },
  http: patch('/v1/projects/:projectId'),
  access: { scope: 'projects:write', subject: { entity: project, parameter: 'projectId' } },
  input: t.intersection([t.type({ projectId: cuid }), t.partial({ name: text({ min: 1, max: 200 }) })]),
  output: ProjectRecord,
  failures: ['project-not-found'],
  entity: project,
  decide: ({ name }, state) => {
    const isSame = name === undefined || (state !== null && refersTo(state.name, name));
    return E.right(isSame ? [] : [newEvent('ProjectRenamed', { name })]);
  },
  answer: ({ state, dataAt }) => projectRecord(state, dataAt),
});
