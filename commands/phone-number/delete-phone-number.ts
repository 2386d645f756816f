import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { command } from '#application/commands/command.ts';
import { remove } from '#application/operations/operation.ts';
import { cuid } from '#domain/codecs/id.ts';
import { phoneNumber, phoneNumberRecord } from '#domain/phone-number/phone-number.ts';
import { PhoneNumberRecord } from '#domain/phone-number/record.ts';
import { newEvent } from '#domain/shared/event.ts';

export const deletePhoneNumber = command({
  about: {
    name: 'delete_phone_number',
    summary: 'Delete a phone number',
    description: 'After the answer, the number is free for others.',
    group: 'Phone numbers',
    example: { output: PhoneNumberRecord.example },
  },
  http: remove('/v1/phone-numbers/:phoneNumberId'),
  access: { scope: 'phone-numbers:write', subject: { entity: phoneNumber, parameter: 'phoneNumberId' } },
  input: t.type({ phoneNumberId: cuid }),
  output: PhoneNumberRecord,
  failures: ['phone-number-not-found'],
  entity: phoneNumber,
  decide: ({ phoneNumberId: id }) => E.right([newEvent('PhoneNumberDeleted', { id })]),
  answer: ({ state, dataAt }) => phoneNumberRecord(state, dataAt),
});
