import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { command } from '#application/commands/command.ts';
import { post } from '#application/operations/operation.ts';
import { organization, organizationRecord } from '#domain/organization/organization.ts';
import { OrganizationRecord } from '#domain/organization/record.ts';
import { newEvent } from '#domain/shared/event.ts';
import { text } from '#shared/codecs/text.ts';

export const createOrganization = command({
  about: {
    name: 'create_organization',
    summary: 'Create an organization',
    description: 'Only the operator can do this. A partner may own templates and customer organizations.',
    group: 'Organizations',
    example: { input: { name: 'Northwind Voice', partner: true }, output: OrganizationRecord.example },
  },
  http: post('/v1/organizations', 201),
  access: { scope: 'operations:write', subject: null },
  input: t.type({ name: text({ min: 1, max: 200 }), partner: t.boolean }),
  output: OrganizationRecord,
  failures: [],
  entity: organization,
  creates: {
    id: (_, newIds) => newIds.id,
    isIdUsed: (state) => state !== null,
    tenant: ({ partner }, { newIds: { id } }) => ({
      organizationId: id,
      projectId: null,
      partnerId: partner ? id : null,
    }),
  },
  decide: ({ name, partner }, _, { newIds: { id } }) =>
    E.right([newEvent('OrganizationCreated', { id, name, partner })]),
  answer: ({ state }) => organizationRecord(state),
});
