import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { answerAsOf, asOfInput, type PastReadName, pastReadNames } from '#application/history/as-of.ts';
import { get } from '#application/operations/operation.ts';
import { query } from '#application/queries/query.ts';
import { cuid } from '#domain/codecs/id.ts';
import { organizationHistory } from '#domain/organization/history.ts';
import { customer, customerRecord } from '#domain/organization/organization.ts';
import { CustomerRecord } from '#domain/organization/record.ts';
import { type CustomerDocument, customers } from '#projections/access/customers.ts';

const Input = t.intersection([t.type({ organizationId: cuid }), t.partial(asOfInput)]);

const notFound = 'customer-not-found';
const past = { history: organizationHistory, entity: customer, kind: 'customer', notFound } as const;

export const getCustomer = query<t.TypeOf<typeof Input>, CustomerDocument, CustomerRecord, never, PastReadName>({
  about: {
    name: 'get_customer',
    summary: 'Read a customer',
    group: 'Partner customers',
    example: { output: CustomerRecord.example },
  },
  http: get('/v1/partner/customers/:organizationId'),
  access: {
    scope: 'customers:read',
    subject: { collection: customers, parameter: 'organizationId', notFound, past: customer },
  },
  input: Input,
  output: CustomerRecord,
  failures: [notFound],
  reads: {},
  services: pastReadNames,
  hasRevision: true,
  answer: answerAsOf(past, async ({ subject: { id, record, head } }, { personalReader }) => {
    const read = await personalReader([id]);
    const body = customerRecord(record.parse(), (field, text) => read(id, field, text));
    return E.right({ body, revision: head.revision });
  }),
});
