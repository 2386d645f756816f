import assert from 'node:assert/strict';
import { erasePersonalData } from '#commands/customer/erase-personal-data.ts';
import { customer } from '#domain/organization/organization.ts';
import { customerCreated, organizationCreated, personalDataErased } from '#test/support/events/tenant-events.ts';
import { callerOf, ids } from '#test/support/events/tenants.ts';
import { givenHistory } from '#test/support/harness/command-harness.ts';
import { stateOf } from '#test/support/harness/recorded-events.ts';

const input = { organizationId: ids.customer };

describe('erase_personal_data', () => {
  it('records the erasure of a customer once', () => {
    givenHistory(customerCreated()).when(erasePersonalData, input).then(personalDataErased());
    givenHistory(customerCreated(), personalDataErased()).when(erasePersonalData, input).then();
  });

  it('destroys the subject’s key after every erasure, even one recorded before', async () => {
    const erased: string[] = [];
    const effects = { erasePersonalData: async (subject: string) => void erased.push(subject) };
    await erasePersonalData.afterAppend?.(ids.customer, effects as never, callerOf('partner'));
    assert.deepEqual(erased, [ids.customer]);
  });

  it('treats only customers as erasable, not other organizations', () => {
    assert.ok(customer.everExisted(stateOf(customer, customerCreated()), ids.customer));
    assert.ok(customer.isLive(stateOf(customer, customerCreated(), personalDataErased()), ids.customer));
    assert.ok(!customer.everExisted(stateOf(customer, organizationCreated()), ids.partner));
    assert.ok(!customer.everExisted(null, ids.customer));
  });

  it('keeps no text of an erased customer in the state, not even sealed', () => {
    const state = JSON.stringify(stateOf(customer, customerCreated(), personalDataErased()));
    assert.match(state, /"erased"/);
    assert.doesNotMatch(state, /ciphertext|sealed/);
  });
});
