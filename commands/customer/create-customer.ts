import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { command } from '#application/commands/command.ts';
import { post } from '#application/operations/operation.ts';
import { cuid, email, text } from '#domain/codecs/codecs.ts';
import { customer, customerOf, organization } from '#domain/organization/organization.ts';
import { newEvent } from '#domain/shared/event.ts';
import { examples } from '#domain/shared/examples.ts';
import { failure } from '#domain/shared/failure.ts';

export const createCustomer = command({
  name: 'create_customer',
  summary: 'Create a customer organization with a project',
  description:
    "It belongs to the key's organization, which must be a partner. Name and address are stored encrypted, and can be erased.",
  group: 'Partner customers',
  http: post('/v1/partner/customers', 201),
  scope: 'customers:write',
  input: t.type({ name: text({ min: 1, max: 200 }), clientEmail: email }),
  personal: true,
  output: t.type({ organizationId: cuid }),
  failures: ['organization-not-partner', 'idempotency-key-erased'],
  example: {
    input: { name: examples.customer.name, clientEmail: examples.customer.clientEmail },
    output: { organizationId: examples.customer.organizationId },
  },
  entity: customer,
  subject: null,
  newId: (_, fresh) => fresh.id,
  isIdUsed: (state) => state !== null,
  loadRelated: async ({ name, clientEmail }, { load, seal }, caller) => {
    const { state } = await load(organization, caller.organizationId);
    return state?.partner === true ? seal({ name, clientEmail }) : null;
  },
  tenant: (_, { caller, fresh: { id } }) => ({ organizationId: id, projectId: null, partnerId: caller.organizationId }),
  decide: (_, __, { also: sealed, fresh: { id, secondId } }) =>
    sealed === null
      ? E.left(failure('organization-not-partner', 'The organization of this key is no partner: it has no customers.'))
      : E.right([newEvent('CustomerCreated', { id, projectId: secondId, ...sealed })]),
  answer: ({ state }) => ({ organizationId: customerOf(state).organizationId }),
});
