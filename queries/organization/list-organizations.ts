import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { examples } from '#domain/examples.ts';
import { OrganizationRecord, type SealedOrganization } from '#domain/organization/record.ts';
import type { Tenant } from '#domain/tenancy.ts';
import { get } from '#operations/operation.ts';
import { listPage, nextCursorOutput, pageInput } from '#operations/paging.ts';
import { query } from '#operations/query.ts';
import { organizations } from '#projections/organizations.ts';

const Input = t.partial(pageInput);
const Output = t.intersection([t.type({ organizations: t.readonlyArray(OrganizationRecord) }), nextCursorOutput]);

export const listOrganizations = query<t.TypeOf<typeof Input>, Tenant, t.TypeOf<typeof Output>>({
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
  reads: [organizations.name],
  subject: null,
  paged: true,
  answer: async ({ input, documents, personalReader }) => {
    const page = await listPage(documents, {
      collection: organizations.name,
      where: {},
      input,
      name: 'organizations',
      item: ({ value }: { value: SealedOrganization }) => value,
    });
    const sealed = page.body.organizations;
    const read = await personalReader(sealed.filter(({ name }) => typeof name !== 'string').map(({ id }) => id));
    const opened = sealed.map((record) => ({ ...record, name: read(record.id, 'name', record.name) }));
    return E.right({ ...page, body: { ...page.body, organizations: opened } });
  },
});
