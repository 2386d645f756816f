import * as t from 'io-ts';
import { cuid } from '#domain/codecs/id.ts';
import { timestamp } from '#domain/codecs/time.ts';
import { nullable } from '#shared/codecs/choice.ts';
import { jsonObject } from '#shared/codecs/json-value.ts';
import { text } from '#shared/codecs/text.ts';
import { PhoneNumberStatus, PhoneNumberType } from './events.ts';

/** A phone number in the API (contract, "Phone number"). */
export const PhoneNumberRecord = t.type(
  {
    id: cuid,
    projectId: cuid,
    type: PhoneNumberType,
    name: text(),
    number: text(),
    status: PhoneNumberStatus,
    flowId: nullable(cuid),
    externalPhoneFields: nullable(jsonObject),
    createdAt: timestamp,
    updatedAt: timestamp,
  },
  'PhoneNumber',
);

export type PhoneNumberRecord = t.TypeOf<typeof PhoneNumberRecord>;
