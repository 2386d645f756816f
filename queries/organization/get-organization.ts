import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { answerAsOf, asOfInput, type PastReadName, pastReadNames } from '#application/history/as-of.ts';
import { get } from '#application/operations/operation.ts';
import { query } from '#application/queries/query.ts';
import { cuid } from '#domain/codecs/id.ts';
import { organizationHistory } from '#domain/organization/history.ts';
import { organization } from '#domain/organization/organization.ts';
import { OrganizationRecord } from '#domain/organization/record.ts';
import { type OrganizationDocument, organizationOfDocument, organizations } from '#projections/access/organizations.ts';

const Input = t.intersection([t.type({ organizationId: cuid }), t.partial(asOfInput)]);

const notFound = 'organization-not-found';
const past = { history: organizationHistory, entity: organization, kind: 'organization', notFound } as const;

export const getOrganization = query<
  t.TypeOf<typeof Input>,
  OrganizationDocument,
  OrganizationRecord,
  never,
  PastReadName
>({
  about: {
    name: 'get_organization',
    summary: 'Read an organization',
    description: 'Only the operator can do this.',
    group: 'Organizations',
    example: { output: OrganizationRecord.example },
  },
  http: get('/v1/organizations/:organizationId'),
  access: {
    scope: 'operations:write',
    subject: { collection: organizations, parameter: 'organizationId', notFound, past: organization },
  },
  input: Input,
  output: OrganizationRecord,
  failures: [notFound],
  reads: {},
  services: pastReadNames,
  hasRevision: true,
  answer: answerAsOf(past, async ({ subject: { id, value } }, { personalReader }) => {
    const read = await personalReader(typeof value.name === 'string' ? [] : [id]);
    const body = organizationOfDocument(value, (name) => read(id, 'name', name));
    return E.right({ body, revision: value.revision });
  }),
});
