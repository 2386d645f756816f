import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { command } from '#application/commands/command.ts';
import { post } from '#application/operations/operation.ts';
import { cuid } from '#domain/codecs/id.ts';
import { timestamp } from '#domain/codecs/time.ts';
import { customer, customerOf, organization } from '#domain/organization/organization.ts';
import { CustomerRecord } from '#domain/organization/record.ts';
import { newEvent } from '#domain/shared/event.ts';
import { failure } from '#domain/shared/failure.ts';
import { email, text } from '#shared/codecs/text.ts';

const CreatedCustomer = t.type({ organizationId: cuid, projectId: cuid, createdAt: timestamp }, 'CreatedCustomer');

export const createCustomer = command({
  about: {
    name: 'create_customer',
    summary: 'Create a customer organization with a project',
    description:
      "The customer belongs to the key's organization, which must be a partner. Name and address are stored encrypted and can be erased.",
    group: 'Partner customers',
    example: {
      input: { name: CustomerRecord.example.name, clientEmail: CustomerRecord.example.clientEmail },
      output: {
        organizationId: CustomerRecord.example.organizationId,
        projectId: CustomerRecord.example.projectId,
        createdAt: CustomerRecord.example.createdAt,
      },
    },
  },
  http: post('/v1/partner/customers', 201),
  access: { scope: 'customers:write', subject: null },
  input: t.type({ name: text({ min: 1, max: 200 }), clientEmail: email }),
  personal: true,
  output: CreatedCustomer,
  failures: ['organization-not-partner', 'idempotency-key-erased'],
  entity: customer,
  loadRelated: async ({ name, clientEmail }, { load, seal }, caller) => {
    const { state } = await load(organization, caller.organizationId);
    return state?.partner === true ? seal({ name, clientEmail }) : null;
  },
  creates: {
    id: (_, newIds) => newIds.id,
    isIdUsed: (state) => state !== null,
    tenant: (_, { caller, newIds: { id } }) => ({
      organizationId: id,
      projectId: null,
      partnerId: caller.organizationId,
    }),
  },
  decide: (_, __, { related: sealed, newIds: { id, secondId } }) =>
    sealed === null
      ? E.left(
          failure('organization-not-partner', 'The organization of this key is not a partner: it has no customers.'),
        )
      : E.right([newEvent('CustomerCreated', { id, projectId: secondId, ...sealed })]),
  answer: ({ state }) => {
    const { organizationId, projectId, createdAt } = customerOf(state);
    return { organizationId, projectId, createdAt };
  },
});
