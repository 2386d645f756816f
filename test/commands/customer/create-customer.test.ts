import assert from 'node:assert/strict';
import { createCustomer } from '#commands/customer/create-customer.ts';
import { organization } from '#domain/organization/organization.ts';
import { customerCreated, organizationCreated, sealed } from '#test/support/events/tenant-events.ts';
import { callerOf, ids, newIds } from '#test/support/events/tenants.ts';
import { inputOf } from '#test/support/harness/arbitrary-input.ts';
import { givenHistory } from '#test/support/harness/command-harness.ts';
import { stateOf } from '#test/support/harness/recorded-events.ts';

const input = { name: 'Harbour Dental', clientEmail: 'office@harbour-dental.example' };

describe('create_customer', () => {
  it('creates a customer with the id of its future project and with sealed texts', () => {
    givenHistory().when(createCustomer, input, { related: sealed }).then(customerCreated(newIds.id, newIds.secondId));
  });

  it('refuses a customer of an organization that is not a partner', () => {
    givenHistory().when(createCustomer, input, { related: null }).then('organization-not-partner');
  });

  it('puts a customer under the organization of the key, for every key type', () => {
    for (const caller of [callerOf('admin'), callerOf('partner')]) {
      const tenant = createCustomer.creates?.tenant?.(input, { caller, newIds } as never);
      assert.deepEqual(tenant, { organizationId: newIds.id, projectId: null, partnerId: ids.partner });
    }
  });

  describe('loadRelated of create_customer', () => {
    const asked = async (partner: boolean) => {
      const seen: unknown[] = [];
      const loads = {
        load: async (_: unknown, id: string) => {
          seen.push(id);
          return { state: stateOf(organization, organizationCreated(id, partner)), tenant: null } as never;
        },
        seal: async (texts: object) => {
          seen.push(texts);
          return sealed as never;
        },
        dataAt: null as never,
        lookup: null as never,
        newSecrets: { apiKey: '', webhookSecret: '' },
      };
      return { related: await createCustomer.loadRelated?.(input, loads, callerOf('partner'), null), seen };
    };

    it('seals name and address of a partner’s customer', async () => {
      assert.deepEqual(await asked(true), { related: sealed, seen: [ids.partner, input] });
    });

    it('seals nothing when the organization is not a partner', async () => {
      assert.deepEqual(await asked(false), { related: null, seen: [ids.partner] });
    });
  });

  describe('input of create_customer', () => {
    const of = inputOf(createCustomer, input);
    of.required('name');
    of.text('name', { min: 1, max: 200 });
    of.required('clientEmail');
    const label = 'a'.repeat(63);
    const longest = `${'l'.repeat(64)}@${label}.${label}.${'b'.repeat(61)}`;
    assert.equal(longest.length, 254);
    for (const address of [
      'a@b.co',
      'Ada.Lovelace+desk@Analytical-Engine.example.com',
      "o'neil!#$%&*/=?^_`{|}~-@x.y",
      'n@xn--bcher-kva.example',
      '1@2.3',
      longest,
    ])
      of.accepts('clientEmail', address);
    for (const address of [
      '',
      'a',
      'a@',
      '@b.co',
      'a@b',
      'a b@c.de',
      ' a@b.co',
      'a@b.co\n',
      'a@b..co',
      '.a@b.co',
      'a.@b.co',
      'a..b@c.de',
      'a@-b.co',
      'a@b-.co',
      'a@b.co.',
      'a@@b.co',
      'Ada <a@b.co>',
      '"a"@b.co',
      'a@[127.0.0.1]',
      'ä@b.co',
      'a@bü.co',
      `${'l'.repeat(65)}@b.co`,
      `a@${'a'.repeat(64)}.co`,
      `${longest}b`,
      null,
      7,
      ['a@b.co'],
    ])
      of.refuses('clientEmail', address);
    of.ignoresUnknown();
  });
});
