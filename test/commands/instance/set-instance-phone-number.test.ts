import { setInstancePhoneNumber } from '#commands/instance/set-instance-phone-number.ts';
import { phoneNumber } from '#domain/phone-number/phone-number.ts';
import { newEvent } from '#domain/shared/event.ts';
import { activeInstance } from '#test/support/events/instance-events.ts';
import { phoneNumberCreated, phoneNumberDeleted } from '#test/support/events/phone-number-events.ts';
import { ids } from '#test/support/events/tenants.ts';
import { inputOf } from '#test/support/harness/arbitrary-input.ts';
import { givenHistory } from '#test/support/harness/command-harness.ts';
import { stateOf } from '#test/support/harness/recorded-events.ts';

const input = { instanceId: ids.instance, key: 'main', phoneNumberId: ids.number };
const there = { related: stateOf(phoneNumber, phoneNumberCreated()) };
const set = (phoneNumberId: string | null) =>
  newEvent('InstancePhoneNumberSet', { id: ids.instance, key: 'main', phoneNumberId });

describe('set_instance_phone_number', () => {
  it('sets, replaces and removes the phone number of a requirement', () => {
    givenHistory(...activeInstance())
      .when(setInstancePhoneNumber, input, there)
      .then(set(ids.number));
    const other = { related: stateOf(phoneNumber, phoneNumberCreated({ id: ids.otherNumber })) };
    givenHistory(...activeInstance(), set(ids.number))
      .when(setInstancePhoneNumber, { ...input, phoneNumberId: ids.otherNumber }, other)
      .then(set(ids.otherNumber));
    givenHistory(...activeInstance(), set(ids.number))
      .when(setInstancePhoneNumber, { ...input, phoneNumberId: null }, { related: null })
      .then(set(null));
  });

  it('changes nothing when the requirement has the phone number already', () => {
    givenHistory(...activeInstance(), set(ids.number))
      .when(setInstancePhoneNumber, input, there)
      .then();
    givenHistory(...activeInstance(), set(ids.number), set(null))
      .when(setInstancePhoneNumber, { ...input, phoneNumberId: null }, { related: null })
      .then();
  });

  it('refuses a requirement that the template version does not have', () => {
    for (const key of ['other', '', '__proto__']) {
      givenHistory(...activeInstance())
        .when(setInstancePhoneNumber, { ...input, key }, there)
        .then('phone-number-requirement-not-found');
    }
  });

  it('refuses a phone number that is unknown, deleted or another project’s', () => {
    const when = (related: (typeof there)['related']) =>
      givenHistory(...activeInstance()).when(setInstancePhoneNumber, input, { related });
    when(null).then('phone-number-not-found');
    when(stateOf(phoneNumber, phoneNumberCreated(), phoneNumberDeleted())).then('phone-number-not-found');
    when(stateOf(phoneNumber, phoneNumberCreated({ projectId: ids.sibling }))).then('phone-number-not-found');
  });

  describe('input of set_instance_phone_number', () => {
    const of = inputOf(setInstancePhoneNumber, input);
    of.id('phoneNumberId', { orNull: true });
    of.required('phoneNumberId');
    of.ignoresUnknown();
  });
});
