import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import type { Claim } from '#application/commands/claims.ts';
import { command } from '#application/commands/command.ts';
import { post } from '#application/operations/operation.ts';
import { cuid } from '#domain/codecs/id.ts';
import { flow } from '#domain/flow/flow.ts';
import { FlowRecord } from '#domain/flow/record.ts';
import {
  type PhoneNumberClaimEvents,
  type PhoneNumberEvents,
  PhoneNumberStatus,
  PhoneNumberType,
} from '#domain/phone-number/events.ts';
import { claimedNumbers, hasE164Form } from '#domain/phone-number/number-space.ts';
import {
  checkAttachable,
  type PhoneNumberClaimState,
  type PhoneNumberState,
  phoneNumber,
  phoneNumberClaim,
  phoneNumberRecord,
} from '#domain/phone-number/phone-number.ts';
import { PhoneNumberRecord } from '#domain/phone-number/record.ts';
import { project } from '#domain/project/project.ts';
import { newEvent } from '#domain/shared/event.ts';
import { failure } from '#domain/shared/failure.ts';
import { nullable } from '#shared/codecs/choice.ts';
import { withDefault } from '#shared/codecs/default.ts';
import { jsonObject } from '#shared/codecs/json-value.ts';
import { text } from '#shared/codecs/text.ts';

/** Keeps a number unique within its space (`claimedNumbers`). */
const numberClaim: Claim<PhoneNumberClaimState, PhoneNumberClaimEvents, PhoneNumberState, PhoneNumberEvents> = {
  entity: phoneNumberClaim,
  holder: phoneNumber,
  holderIn: (state) => state && { id: state.phoneNumberId, since: state.since },
  claimed: (phoneNumberId) => newEvent('PhoneNumberClaimed', { phoneNumberId }),
  abandoned: (id) => newEvent('PhoneNumberAbandoned', { id }),
  taken: failure(
    'phone-number-taken',
    'Another phone number has this number. Delete that one first, or use another number.',
  ),
  beingTaken: 'Another request is creating a phone number with this number.',
};

export const createPhoneNumber = command({
  about: {
    name: 'create_phone_number',
    summary: 'Create a phone number',
    description:
      'A platform or partner number is unique in the whole system, an external number in its project. The E.164 form counts. With `Prefer: handling=strict` a platform number without that form is 422.',
    group: 'Phone numbers',
    example: {
      input: { name: 'Reception', number: '+442071838750', flowId: FlowRecord.example.id },
      output: PhoneNumberRecord.example,
    },
  },
  http: post('/v1/projects/:projectId/phone-numbers', 201),
  access: { scope: 'phone-numbers:write', subject: { entity: project, parameter: 'projectId' } },
  input: t.intersection([
    t.type({ projectId: cuid, name: text({ min: 1, max: 200 }), number: text({ min: 1, max: 64 }) }),
    t.partial({
      status: withDefault(PhoneNumberStatus, 'disabled'),
      type: withDefault(PhoneNumberType, 'platform'),
      flowId: nullable(cuid),
      externalPhoneFields: nullable(jsonObject),
    }),
  ]),
  strictFaults: ({ type = 'platform', number }) =>
    type === 'platform' && !hasE164Form(number)
      ? [{ pointer: '/number', message: 'must have an E.164 form, like +442071838750, for the type platform' }]
      : [],
  output: PhoneNumberRecord,
  failures: ['project-not-found', 'flow-not-found', 'phone-number-taken'],
  entity: phoneNumber,
  loadRelated: async ({ flowId }, { load }) => (flowId ? (await load(flow, flowId)).state : null),
  creates: {
    id: (_, newIds) => newIds.id,
    isIdUsed: (state) => state !== null,
    claims: {
      claim: numberClaim,
      values: ({ type = 'platform', projectId, number }) => claimedNumbers(type, projectId, number),
    },
  },
  decide: (input, state, { related: target, newIds: { id } }) => {
    const { projectId, name, number, type = 'platform', status = 'disabled' } = input;
    const { flowId = null, externalPhoneFields = null } = input;
    if (state === 'abandoned') return E.left(tookTooLong);
    const refusal = flowId === null ? null : checkAttachable(target, flowId, projectId);
    if (refusal !== null) return E.left(refusal);
    const data = { id, projectId, type, name, number, status, flowId, externalPhoneFields };
    return E.right([newEvent('PhoneNumberCreated', data)]);
  },
  answer: ({ state, dataAt }) => phoneNumberRecord(state, dataAt),
});

/** A creation is only abandoned when another request claims its number. */
const tookTooLong = failure(
  'phone-number-taken',
  'The creation took too long, and another request has claimed the number. Send the request again if the number is free.',
);
