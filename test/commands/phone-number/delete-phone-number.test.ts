import { deletePhoneNumber } from '#commands/phone-number/delete-phone-number.ts';
import {
  phoneNumberCreated,
  phoneNumberDeleted,
  phoneNumberFlowSet,
} from '#test/support/events/phone-number-events.ts';
import { ids } from '#test/support/events/tenants.ts';
import { inputOf } from '#test/support/harness/arbitrary-input.ts';
import { givenHistory } from '#test/support/harness/command-harness.ts';

const input = { phoneNumberId: ids.number };

describe('delete_phone_number', () => {
  it('deletes a phone number, with or without a flow', () => {
    givenHistory(phoneNumberCreated()).when(deletePhoneNumber, input).then(phoneNumberDeleted());
    givenHistory(phoneNumberCreated(), phoneNumberFlowSet(ids.flow))
      .when(deletePhoneNumber, input)
      .then(phoneNumberDeleted());
  });

  describe('input of delete_phone_number', () => {
    inputOf(deletePhoneNumber, input).id('phoneNumberId');
  });
});
