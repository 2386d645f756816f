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
  it('points at a flow of its project', () => {
    givenHistory(phoneNumberCreated())
      .when(setPhoneNumberFlow, input, { also: ofProject })
      .then(phoneNumberFlowSet(ids.flow));
  });

  it('points at another one, or at none', () => {
    givenHistory(phoneNumberCreated({ flowId: ids.otherFlow }))
      .when(setPhoneNumberFlow, input, { also: ofProject })
      .then(phoneNumberFlowSet(ids.flow));
    givenHistory(phoneNumberCreated(), phoneNumberFlowSet(ids.flow))
      .when(setPhoneNumberFlow, { ...input, flowId: null }, { also: null })
      .then(phoneNumberFlowSet(null));
  });

  it('changes nothing when it points there already', () => {
    givenHistory(phoneNumberCreated(), phoneNumberFlowSet(ids.flow))
      .when(setPhoneNumberFlow, input, { also: ofProject })
      .then();
    givenHistory(phoneNumberCreated())
      .when(setPhoneNumberFlow, { ...input, flowId: null }, { also: null })
      .then();
  });

  const strange = [
    ['unknown', null],
    ['deleted', stateOf(flow, ...begunFlow(), flowDeleted())],
    ["another project's", stateOf(flow, ...begunFlow({ projectId: ids.sibling }))],
  ] as const;
  for (const [what, also] of strange) {
    it(`refuses a flow that is ${what}`, () => {
      givenHistory(phoneNumberCreated()).when(setPhoneNumberFlow, input, { also }).then('flow-not-found');
    });
  }

  describe('input', () => {
    const of = inputOf(setPhoneNumberFlow, input);
    of.id('phoneNumberId');
    of.id('flowId', { orNull: true });
    of.required('flowId');
  });
});
