import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { get } from '#application/operations/operation.ts';
import { query } from '#application/queries/query.ts';
import { cuid } from '#domain/codecs/codecs.ts';
import { customerRecord } from '#domain/organization/customer.ts';
import { CustomerRecord } from '#domain/organization/record.ts';
import { examples } from '#domain/shared/examples.ts';
import { type CustomerDocument, customers } from '#projections/customers.ts';

export const getCustomer = query<{ readonly organizationId: string }, CustomerDocument, CustomerRecord>({
  name: 'get_customer',
  summary: 'Read a customer',
  group: 'Partner customers',
  http: get('/v1/partner/customers/:organizationId'),
  scope: 'customers:read',
  input: t.type({ organizationId: cuid }),
  output: CustomerRecord,
  failures: ['customer-not-found'],
  example: { output: examples.customer },
  reads: {},
  subject: { collection: customers, parameter: 'organizationId', notFound: 'customer-not-found' },
  hasRevision: true,
  answer: async ({ subject: { id, record, head }, personalReader }) => {
    const read = await personalReader([id]);
    const body = customerRecord(record.parse(), (field, text) => read(id, field, text));
    return E.right({ body, revision: head.revision });
  },
});
