import type * as t from 'io-ts';
import { cuid } from '#domain/codecs/id.ts';
import { exampleIds, recordTimes } from '#domain/shared/examples.ts';
import { nullable } from '#shared/codecs/choice.ts';
import { jsonObject } from '#shared/codecs/json-value.ts';
import { record } from '#shared/codecs/record.ts';
import { text } from '#shared/codecs/text.ts';
import { PhoneNumberStatus, PhoneNumberType } from './events.ts';

/** See "Phone number" in the contract. */
export const PhoneNumberRecord = record('PhoneNumber', {
  id: [cuid, exampleIds.phoneNumber],
  projectId: [cuid, exampleIds.project],
  type: [PhoneNumberType, 'platform'],
  name: [text(), 'Reception'],
  number: [text(), '+442071838750'],
  status: [PhoneNumberStatus, 'disabled'],
  flowId: [nullable(cuid), exampleIds.flow],
  externalPhoneFields: [nullable(jsonObject), null],
  ...recordTimes,
});

export type PhoneNumberRecord = t.TypeOf<typeof PhoneNumberRecord>;
