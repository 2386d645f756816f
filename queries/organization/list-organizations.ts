import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { get } from '#application/operations/operation.ts';
import { listInput, listItems } from '#application/operations/paging.ts';
import { query } from '#application/queries/query.ts';
import { OrganizationRecord } from '#domain/organization/record.ts';
import type { Tenant } from '#domain/shared/access.ts';
import { type OrganizationDocument, organizationOfDocument, organizations } from '#projections/access/organizations.ts';
import { listOf } from '#queries/shared/list-of.ts';

const Input = t.partial(listInput);
const Output = listOf('organizations', OrganizationRecord);

export const listOrganizations = query<
  t.TypeOf<typeof Input>,
  Tenant,
  t.TypeOf<typeof Output>,
  'organizations',
  'personalReader'
>({
  about: {
    name: 'list_organizations',
    summary: 'List all organizations',
    description: 'Only the operator can do this.',
    group: 'Organizations',
    example: { output: { organizations: [OrganizationRecord.example] } },
  },
  http: get('/v1/organizations'),
  access: { scope: 'operations:write', subject: null },
  input: Input,
  output: Output,
  failures: [],
  reads: { organizations },
  services: ['personalReader'],
  paged: true,
  answer: async ({ input }, { read, personalReader }) => {
    const list = { where: {}, input, name: 'organizations' } as const;
    return E.right(
      await listItems<OrganizationDocument, 'organizations', OrganizationRecord>(
        read.organizations,
        list,
        async (page) => {
          const sealed = page.filter(({ value: { name } }) => typeof name !== 'string');
          const read = await personalReader(sealed.map(({ id }) => id));
          return ({ id, value }) => organizationOfDocument(value, (name) => read(id, 'name', name));
        },
      ),
    );
  },
});
