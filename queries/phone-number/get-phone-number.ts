import { phoneNumberHistory } from '#domain/phone-number/history.ts';
import { phoneNumber } from '#domain/phone-number/phone-number.ts';
import { PhoneNumberRecord } from '#domain/phone-number/record.ts';
import { phoneNumbers } from '#projections/phone-numbers.ts';
import { getById } from '#queries/shared/get-by-id.ts';

export const getPhoneNumber = getById({
  name: 'get_phone_number',
  summary: 'Read a phone number',
  group: 'Phone numbers',
  path: '/v1/phone-numbers/:phoneNumberId',
  scope: 'phone-numbers:read',
  parameter: 'phoneNumberId',
  record: PhoneNumberRecord,
  notFound: 'phone-number-not-found',
  example: PhoneNumberRecord.example,
  collection: phoneNumbers,
  past: { history: phoneNumberHistory, entity: phoneNumber, kind: 'phone-number' },
});
