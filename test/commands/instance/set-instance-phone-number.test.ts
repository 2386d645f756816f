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
const there = { also: stateOf(phoneNumber, phoneNumberCreated()) };
const set = (phoneNumberId: string | null) =>
  newEvent('InstancePhoneNumberSet', { id: ids.instance, key: 'main', phoneNumberId });

describe('set_instance_phone_number', () => {
  it('meets a requirement, with another number too, and takes it back', () => {
    givenHistory(...activeInstance())
      .when(setInstancePhoneNumber, input, there)
      .then(set(ids.number));
    const other = { also: stateOf(phoneNumber, phoneNumberCreated({ id: ids.otherNumber })) };
    givenHistory(...activeInstance(), set(ids.number))
      .when(setInstancePhoneNumber, { ...input, phoneNumberId: ids.otherNumber }, other)
      .then(set(ids.otherNumber));
    givenHistory(...activeInstance(), set(ids.number))
      .when(setInstancePhoneNumber, { ...input, phoneNumberId: null }, { also: null })
      .then(set(null));
  });

  it('changes nothing where it is so already', () => {
    givenHistory(...activeInstance(), set(ids.number))
      .when(setInstancePhoneNumber, input, there)
      .then();
    givenHistory(...activeInstance(), set(ids.number), set(null))
      .when(setInstancePhoneNumber, { ...input, phoneNumberId: null }, { also: null })
      .then();
  });

  it('is refused of what the template version does not ask for', () => {
    for (const key of ['other', '', '__proto__']) {
      givenHistory(...activeInstance())
        .when(setInstancePhoneNumber, { ...input, key }, there)
        .then('phone-number-requirement-not-found');
    }
  });

  it('is refused with a number that is unknown, deleted, or another project’s', () => {
    const when = (also: (typeof there)['also']) =>
      givenHistory(...activeInstance()).when(setInstancePhoneNumber, input, { also });
    when(null).then('phone-number-not-found');
    when(stateOf(phoneNumber, phoneNumberCreated(), phoneNumberDeleted())).then('phone-number-not-found');
    when(stateOf(phoneNumber, phoneNumberCreated({ projectId: ids.sibling }))).then('phone-number-not-found');
  });

  describe('input', () => {
    const of = inputOf(setInstancePhoneNumber, input);
    of.id('phoneNumberId', { orNull: true });
    of.required('phoneNumberId');
    of.ignoresUnknown();
  });
});
