import { updatePhoneNumber } from '#commands/phone-number/update-phone-number.ts';
import { newEvent } from '#domain/shared/event.ts';
import { phoneNumberCreated } from '#test/support/events/phone-number-events.ts';
import { ids } from '#test/support/events/tenants.ts';
import { inputOf } from '#test/support/harness/arbitrary-input.ts';
import { givenHistory } from '#test/support/harness/command-harness.ts';

const id = ids.number;
const input = { phoneNumberId: id };
const renamed = newEvent('PhoneNumberRenamed', { id, name: 'Night desk' });
const enabled = newEvent('PhoneNumberStatusChanged', { id, status: 'enabled' as const });
const disabled = newEvent('PhoneNumberStatusChanged', { id, status: 'disabled' as const });

describe('update_phone_number', () => {
  it('renames a phone number', () => {
    givenHistory(phoneNumberCreated())
      .when(updatePhoneNumber, { ...input, name: 'Night desk' })
      .then(renamed);
  });

  it('enables and disables a phone number', () => {
    givenHistory(phoneNumberCreated())
      .when(updatePhoneNumber, { ...input, status: 'enabled' })
      .then(enabled);
    givenHistory(phoneNumberCreated(), enabled)
      .when(updatePhoneNumber, { ...input, status: 'disabled' })
      .then(disabled);
  });

  it('changes name and status of a phone number with one command', () => {
    givenHistory(phoneNumberCreated())
      .when(updatePhoneNumber, { ...input, name: 'Night desk', status: 'enabled' })
      .then(renamed, enabled);
  });

  it('changes nothing for an empty body or for equal values', () => {
    givenHistory(phoneNumberCreated()).when(updatePhoneNumber, input).then();
    givenHistory(phoneNumberCreated(), renamed, enabled)
      .when(updatePhoneNumber, { ...input, name: 'Night desk', status: 'enabled' })
      .then();
  });

  describe('input of update_phone_number', () => {
    const of = inputOf(updatePhoneNumber, input);
    of.id('phoneNumberId');
    of.text('name', { min: 1, max: 200 });
    of.optional('name', undefined);
    of.choice('status', ['enabled', 'disabled']);
    of.optional('status', undefined);
    of.ignoresUnknown();
  });
});
