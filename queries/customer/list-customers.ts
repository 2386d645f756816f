import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { examples } from '#domain/examples.ts';
import { customerRecord } from '#domain/organization/customer.ts';
import { CustomerRecord } from '#domain/organization/record.ts';
import type { Tenant } from '#domain/tenancy.ts';
import { get } from '#operations/operation.ts';
import { listPage, pageInput } from '#operations/paging.ts';
import { query } from '#operations/query.ts';
import { type CustomerDocument, customers } from '#projections/customers.ts';
import { type ListOf, listOf } from '../list-of.ts';
import { withinReach } from '../within-reach.ts';

const Input = t.partial(pageInput);

export const listCustomers = query<t.TypeOf<typeof Input>, Tenant, ListOf<'customers', CustomerRecord>>({
  name: 'list_customers',
  summary: 'List the customers that the key reaches',
  group: 'Partner customers',
  http: get('/v1/partner/customers'),
  scope: 'customers:read',
  input: Input,
  output: listOf('customers', CustomerRecord),
  failures: [],
  example: { output: { customers: [examples.customer] } },
  reads: [customers.name],
  subject: null,
  paged: true,
  answer: async ({ input, caller, documents, personalReader }) => {
    const page = await listPage(documents, {
      collection: customers.name,
      where: withinReach(caller),
      input,
      name: 'customers',
      item: ({ value }: { value: CustomerDocument }) => value.record,
    });
    const sealed = page.body.customers;
    const read = await personalReader(sealed.map(({ organizationId }) => organizationId));
    const opened = sealed.map((record) =>
      customerRecord(record, (field, text) => read(record.organizationId, field, text)),
    );
    return E.right({ ...page, body: { ...page.body, customers: opened } });
  },
});
