import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { command } from '#application/commands/command.ts';
import { patch } from '#application/operations/operation.ts';
import { cuid } from '#domain/codecs/id.ts';
import { flow } from '#domain/flow/flow.ts';
import { FlowRecord } from '#domain/flow/record.ts';
import {
  checkAttachable,
  knownPhoneNumber,
  phoneNumber,
  phoneNumberRecord,
} from '#domain/phone-number/phone-number.ts';
import { PhoneNumberRecord } from '#domain/phone-number/record.ts';
import { newEvent } from '#domain/shared/event.ts';
import { nullable } from '#shared/codecs/choice.ts';

export const setPhoneNumberFlow = command({
  about: {
    name: 'set_phone_number_flow',
    summary: 'Set or clear the flow of a phone number',
    group: 'Phone numbers',
    example: { input: { flowId: FlowRecord.example.id }, output: PhoneNumberRecord.example },
  },
  http: patch('/v1/phone-numbers/:phoneNumberId/flow'),
  access: { scope: 'phone-numbers:write', subject: { entity: phoneNumber, parameter: 'phoneNumberId' } },
  input: t.type({ phoneNumberId: cuid, flowId: nullable(cuid) }),
  output: PhoneNumberRecord,
  failures: ['phone-number-not-found', 'flow-not-found'],
  entity: phoneNumber,
  loadRelated: async ({ flowId }, { load }) => (flowId === null ? null : (await load(flow, flowId)).state),
  decide: ({ phoneNumberId: id, flowId }, state, { related: target }) => {
    const before = knownPhoneNumber(state).record;
    const refusal = flowId === null ? null : checkAttachable(target, flowId, before.projectId);
    if (refusal !== null) return E.left(refusal);
    if (flowId === before.flowId) return E.right([]);
    return E.right([newEvent('PhoneNumberFlowSet', { id, flowId, reason: 'requested' as const })]);
  },
  answer: ({ state, dataAt }) => phoneNumberRecord(state, dataAt),
});
