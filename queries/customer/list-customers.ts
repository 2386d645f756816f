import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { get } from '#application/operations/operation.ts';
import { listInput, listItems, tenantFilter } from '#application/operations/paging.ts';
import { query } from '#application/queries/query.ts';
import { customerRecord } from '#domain/organization/organization.ts';
import { CustomerRecord } from '#domain/organization/record.ts';
import type { Tenant } from '#domain/shared/access.ts';
import { type CustomerDocument, customers } from '#projections/access/customers.ts';
import { type ListOf, listOf } from '#queries/shared/list-of.ts';

const Input = t.partial(listInput);

export const listCustomers = query<
  t.TypeOf<typeof Input>,
  Tenant,
  ListOf<'customers', CustomerRecord>,
  'customers',
  'personalReader'
>({
  about: {
    name: 'list_customers',
    summary: 'List the customers that the key has access to',
    group: 'Partner customers',
    example: { output: { customers: [CustomerRecord.example] } },
  },
  http: get('/v1/partner/customers'),
  access: { scope: 'customers:read', subject: null },
  input: Input,
  output: listOf('customers', CustomerRecord),
  failures: [],
  reads: { customers },
  services: ['personalReader'],
  paged: true,
  answer: async ({ input, request: { caller } }, { read, personalReader }) => {
    const list = { where: tenantFilter(caller), input, name: 'customers' } as const;
    return E.right(
      await listItems<CustomerDocument, 'customers', CustomerRecord>(read.customers, list, async (page) => {
        const read = await personalReader(page.map(({ id }) => id));
        return ({ id, record }) => customerRecord(record.parse(), (field, text) => read(id, field, text));
      }),
    );
  },
});
