import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { command } from '#application/commands/command.ts';
import { patch } from '#application/operations/operation.ts';
import { cuid } from '#domain/codecs/id.ts';
import { PhoneNumberStatus } from '#domain/phone-number/events.ts';
import { knownPhoneNumber, phoneNumber, phoneNumberRecord } from '#domain/phone-number/phone-number.ts';
import { PhoneNumberRecord } from '#domain/phone-number/record.ts';
import { newEvent } from '#domain/shared/event.ts';
import { refersTo } from '#domain/shared/text-reference.ts';
import { text } from '#shared/codecs/text.ts';

export const updatePhoneNumber = command({
  about: {
    name: 'update_phone_number',
    summary: 'Rename, enable or disable a phone number',
    group: 'Phone numbers',
    example: { input: { status: 'enabled' }, output: { ...PhoneNumberRecord.example, status: 'enabled' } },
  },
  http: patch('/v1/phone-numbers/:phoneNumberId'),
  access: { scope: 'phone-numbers:write', subject: { entity: phoneNumber, parameter: 'phoneNumberId' } },
  input: t.intersection([
    t.type({ phoneNumberId: cuid }),
    t.partial({ name: text({ min: 1, max: 200 }), status: PhoneNumberStatus }),
  ]),
  output: PhoneNumberRecord,
  failures: ['phone-number-not-found'],
  entity: phoneNumber,
  decide: ({ phoneNumberId: id, name, status }, state) => {
    const before = knownPhoneNumber(state).record;
    return E.right([
      ...(name === undefined || refersTo(before.name, name) ? [] : [newEvent('PhoneNumberRenamed', { id, name })]),
      ...(status === undefined || status === before.status
        ? []
        : [newEvent('PhoneNumberStatusChanged', { id, status })]),
    ]);
  },
  answer: ({ state, dataAt }) => phoneNumberRecord(state, dataAt),
});
