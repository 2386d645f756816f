import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { command } from '#application/commands/command.ts';
import { notFound } from '#application/operations/not-found.ts';
import { post } from '#application/operations/operation.ts';
import { cuid, text } from '#domain/codecs/codecs.ts';
import { organization } from '#domain/organization/organization.ts';
import { project, projectRecord } from '#domain/project/project.ts';
import { ProjectRecord } from '#domain/project/record.ts';
import { newEvent } from '#domain/shared/event.ts';
import { examples } from '#domain/shared/examples.ts';
import { canAccess } from '#domain/shared/tenancy.ts';

export const createProject = command({
  name: 'create_project',
  summary: 'Create a project in an organization',
  group: 'Projects',
  http: post('/v1/projects', 201),
  scope: 'projects:write',
  input: t.intersection([t.type({ name: text({ min: 1, max: 200 }) }), t.partial({ organizationId: cuid })]),
  output: ProjectRecord,
  failures: ['organization-not-found'],
  example: { input: { name: 'Front desk' }, output: examples.project },
  entity: project,
  subject: null,
  newId: (_, fresh) => fresh.id,
  isIdUsed: (state) => state !== null,
  loadRelated: async ({ organizationId }, { load }, caller) =>
    load(organization, organizationId ?? caller.organizationId),
  tenant: (_, { also, fresh: { id } }) => ({
    organizationId: also.state?.id ?? '',
    projectId: id,
    partnerId: also.tenant?.partnerId ?? null,
  }),
  decide: ({ name, organizationId }, _, { caller, also, fresh: { id } }) => {
    if (also.state === null || also.tenant === null || !canAccess(caller, also.tenant)) {
      return E.left(notFound('organization-not-found', organizationId ?? caller.organizationId));
    }
    return E.right([newEvent('ProjectCreated', { id, organizationId: also.state.id, name })]);
  },
  answer: ({ state, dataAt }) => projectRecord(state, dataAt),
});
