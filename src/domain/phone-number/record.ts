import * as t from 'io-ts';
import { cuid, jsonObject, nullable, text, timestamp } from '#domain/codecs/codecs.ts';
import { PhoneNumberStatus, PhoneNumberType } from './events.ts';

/** A phone number as it is given out (contract, "Phone number"). */
export const PhoneNumberRecord = t.type({
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
});

export type PhoneNumberRecord = t.TypeOf<typeof PhoneNumberRecord>;
