import { setPhoneNumberFlow } from '#commands/phone-number/set-phone-number-flow.ts';
import { flow } from '#domain/flow/flow.ts';
import { begunFlow, flowDeleted } from '#test/support/events/flow-events.ts';
import { phoneNumberCreated, phoneNumberFlowSet } from '#test/support/events/phone-number-events.ts';
import { ids } from '#test/support/events/tenants.ts';
import { inputOf } from '#test/support/harness/arbitrary-input.ts';
import { givenHistory } from '#test/support/harness/command-harness.ts';
import { stateOf } from '#test/support/harness/recorded-events.ts';

const input = { phoneNumberId: ids.number, flowId: ids.flow };
const ofProject = stateOf(flow, ...begunFlow());

describe('set_phone_number_flow', () => {
  it('assigns a flow of the same project to a phone number', () => {
    givenHistory(phoneNumberCreated())
      .when(setPhoneNumberFlow, input, { related: ofProject })
      .then(phoneNumberFlowSet(ids.flow));
  });

  it('replaces the flow of a phone number, and removes it with null', () => {
    givenHistory(phoneNumberCreated({ flowId: ids.otherFlow }))
      .when(setPhoneNumberFlow, input, { related: ofProject })
      .then(phoneNumberFlowSet(ids.flow));
    givenHistory(phoneNumberCreated(), phoneNumberFlowSet(ids.flow))
      .when(setPhoneNumberFlow, { ...input, flowId: null }, { related: null })
      .then(phoneNumberFlowSet(null));
  });

  it('changes nothing when the phone number has the flow already', () => {
    givenHistory(phoneNumberCreated(), phoneNumberFlowSet(ids.flow))
      .when(setPhoneNumberFlow, input, { related: ofProject })
      .then();
    givenHistory(phoneNumberCreated())
      .when(setPhoneNumberFlow, { ...input, flowId: null }, { related: null })
      .then();
  });

  const invalid = [
    ['unknown', null],
    ['deleted', stateOf(flow, ...begunFlow(), flowDeleted())],
    ["another project's", stateOf(flow, ...begunFlow({ projectId: ids.sibling }))],
  ] as const;
  for (const [what, related] of invalid) {
    it(`refuses to assign a flow that is ${what} to a phone number`, () => {
      givenHistory(phoneNumberCreated()).when(setPhoneNumberFlow, input, { related }).then('flow-not-found');
    });
  }

  describe('input of set_phone_number_flow', () => {
    const of = inputOf(setPhoneNumberFlow, input);
    of.id('phoneNumberId');
    of.id('flowId', { orNull: true });
    of.required('flowId');
  });
});
