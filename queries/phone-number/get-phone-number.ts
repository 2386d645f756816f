import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { cuid } from '#domain/codecs.ts';
import { examples } from '#domain/examples.ts';
import { PhoneNumberRecord } from '#domain/phone-number/record.ts';
import { get } from '#operations/operation.ts';
import { query } from '#operations/query.ts';
import { type PhoneNumberDocument, phoneNumbers } from '#projections/phone-numbers.ts';

export const getPhoneNumber = query<{ phoneNumberId: string }, PhoneNumberDocument, PhoneNumberRecord>({
  name: 'get_phone_number',
  summary: 'Read a phone number',
  group: 'Phone numbers',
  http: get('/v1/phone-numbers/:phoneNumberId'),
  scope: 'phone-numbers:read',
  input: t.type({ phoneNumberId: cuid }),
  output: PhoneNumberRecord,
  failures: ['phone-number-not-found'],
  example: { output: examples.phoneNumber },
  reads: [phoneNumbers.name],
  subject: { collection: phoneNumbers.name, parameter: 'phoneNumberId', notFound: 'phone-number-not-found' },
  hasRevision: true,
  answer: ({ subject: { value } }) => E.right({ body: value.record, revision: value.revision }),
});
