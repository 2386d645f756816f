import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { get } from '#application/operations/operation.ts';
import { listItems, nextCursorOutput, pageInput } from '#application/queries/paging.ts';
import { query } from '#application/queries/query.ts';
import { OrganizationRecord, type SealedOrganization } from '#domain/organization/record.ts';
import { examples } from '#domain/shared/examples.ts';
import type { Tenant } from '#domain/shared/tenancy.ts';
import { organizations } from '#projections/organizations.ts';

const Input = t.partial(pageInput);
const Output = t.intersection([t.type({ organizations: t.readonlyArray(OrganizationRecord) }), nextCursorOutput]);

export const listOrganizations = query<t.TypeOf<typeof Input>, Tenant, t.TypeOf<typeof Output>, 'organizations'>({
  name: 'list_organizations',
  summary: 'List all organizations',
  description: 'For the operator alone.',
  group: 'Organizations',
  http: get('/v1/organizations'),
  scope: 'operations:write',
  input: Input,
  output: Output,
  failures: [],
  example: { output: { organizations: [examples.organization] } },
  reads: { organizations },
  subject: null,
  paged: true,
  answer: async ({ input, read, personalReader }) => {
    const list = { where: {}, input, name: 'organizations' } as const;
    return E.right(
      await listItems<SealedOrganization, 'organizations', OrganizationRecord>(
        read.organizations,
        list,
        async (page) => {
          const sealed = page.filter(({ value: { name } }) => typeof name !== 'string');
          const read = await personalReader(sealed.map(({ id }) => id));
          return ({ id, value }) => ({ ...value, name: read(id, 'name', value.name) });
        },
      ),
    );
  },
});
