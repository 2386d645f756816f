import * as t from 'io-ts';
import { enumeration, nullable, oneOf } from '#shared/codecs/choice.ts';
import { jsonObject } from '#shared/codecs/json-value.ts';

export const PhoneNumberType = enumeration('PhoneNumberType', 'platform', 'partner', 'external');
export const PhoneNumberStatus = enumeration('PhoneNumberStatus', 'enabled', 'disabled');

export const phoneNumberEvents = {
  PhoneNumberCreated: t.type({
    id: t.string,
    projectId: t.string,
    type: PhoneNumberType,
    name: t.string,
    number: t.string,
    status: PhoneNumberStatus,
    flowId: nullable(t.string),
    externalPhoneFields: nullable(jsonObject),
  }),
  PhoneNumberRenamed: t.type({ id: t.string, name: t.string }),
  PhoneNumberStatusChanged: t.type({ id: t.string, status: PhoneNumberStatus }),
  PhoneNumberFlowSet: t.type({
    id: t.string,
    flowId: nullable(t.string),
    reason: oneOf('requested', 'flow-deleted'),
  }),
  PhoneNumberDeleted: t.type({ id: t.string }),
  /**
   * The number was claimed but not created. The stream is closed, so that a late creation fails and others may claim
   * the number.
   */
  PhoneNumberAbandoned: t.type({ id: t.string }),
};

export type PhoneNumberEvents = {
  [Type in keyof typeof phoneNumberEvents]: t.TypeOf<(typeof phoneNumberEvents)[Type]>;
};

/** Events of a claim. The last one names the phone number that holds it. */
export const phoneNumberClaimEvents = {
  PhoneNumberClaimed: t.type({ phoneNumberId: t.string }),
};

export type PhoneNumberClaimEvents = {
  [Type in keyof typeof phoneNumberClaimEvents]: t.TypeOf<(typeof phoneNumberClaimEvents)[Type]>;
};
