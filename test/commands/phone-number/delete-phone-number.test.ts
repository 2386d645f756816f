import { deletePhoneNumber } from '#commands/phone-number/delete-phone-number.ts';
import { givenHistory } from '#test/support/command-harness.ts';
import { inputOf } from '#test/support/input-of.ts';
import { phoneNumberCreated, phoneNumberDeleted, phoneNumberFlowSet } from '#test/support/phone-number-events.ts';
import { ids } from '#test/support/story.ts';

const input = { phoneNumberId: ids.number };

describe('delete_phone_number', () => {
  it('deletes, attached or not', () => {
    givenHistory(phoneNumberCreated()).when(deletePhoneNumber, input).then(phoneNumberDeleted());
    givenHistory(phoneNumberCreated(), phoneNumberFlowSet(ids.flow))
      .when(deletePhoneNumber, input)
      .then(phoneNumberDeleted());
  });

  describe('input', () => {
    inputOf(deletePhoneNumber, input).id('phoneNumberId');
  });
});
