import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { command } from '#application/commands/command.ts';
import { post } from '#application/operations/operation.ts';
import { cuid } from '#domain/codecs/id.ts';
import { organization } from '#domain/organization/organization.ts';
import { project, projectRecord } from '#domain/project/project.ts';
import { ProjectRecord } from '#domain/project/record.ts';
import { canAccess, notFound } from '#domain/shared/access.ts';
import { newEvent } from '#domain/shared/event.ts';
import { text } from '#shared/codecs/text.ts';

export const createProject = command({
  about: {
    name: 'create_project',
    summary: 'Create a project in an organization',
    group: 'Projects',
    example: { input: { name: 'Front desk' }, output: ProjectRecord.example },
  },
  http: post('/v1/projects', 201),
  access: { scope: 'projects:write', subject: null },
  input: t.intersection([t.type({ name: text({ min: 1, max: 200 }) }), t.partial({ organizationId: cuid })]),
  output: ProjectRecord,
  failures: ['organization-not-found'],
  entity: project,
  loadRelated: async ({ organizationId }, { load }, caller) =>
    load(organization, organizationId ?? caller.organizationId),
  creates: {
    id: (_, newIds) => newIds.id,
    isIdUsed: (state) => state !== null,
    tenant: (_, { related, newIds: { id } }) => ({
      organizationId: related.state?.id ?? '',
      projectId: id,
      partnerId: related.tenant?.partnerId ?? null,
    }),
  },
  decide: ({ name, organizationId }, _, { caller, related, newIds: { id } }) => {
    if (related.state === null || related.tenant === null || !canAccess(caller, related.tenant)) {
      return E.left(notFound('organization-not-found', organizationId ?? caller.organizationId));
    }
    return E.right([newEvent('ProjectCreated', { id, organizationId: related.state.id, name })]);
  },
  answer: ({ state, dataAt }) => projectRecord(state, dataAt),
});
