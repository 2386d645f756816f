import assert from 'node:assert/strict';
import { createOrganization } from '#commands/organization/create-organization.ts';
import { scopesOfKeyType } from '#domain/shared/access.ts';
import { organizationCreated } from '#test/support/events/tenant-events.ts';
import { newIds } from '#test/support/events/tenants.ts';
import { inputOf } from '#test/support/harness/arbitrary-input.ts';
import { givenHistory } from '#test/support/harness/command-harness.ts';

const input = { name: 'Northwind Voice', partner: true };

describe('create_organization', () => {
  it('creates an organization, as a partner or not', () => {
    givenHistory().when(createOrganization, input).then(organizationCreated(newIds.id, true));
    givenHistory()
      .when(createOrganization, { ...input, partner: false })
      .then(organizationCreated(newIds.id, false));
  });

  it('makes an organization its own tenant, and a partner its own partner', () => {
    const tenant = (partner: boolean) =>
      createOrganization.creates?.tenant?.({ ...input, partner }, { newIds } as never);
    assert.deepEqual(tenant(true), { organizationId: newIds.id, projectId: null, partnerId: newIds.id });
    assert.deepEqual(tenant(false), { organizationId: newIds.id, projectId: null, partnerId: null });
  });

  it('requires a scope that only admin keys can have to create an organization', () => {
    const able = Object.entries(scopesOfKeyType).filter(([, scopes]) => scopes.has(createOrganization.access.scope));
    assert.deepEqual(
      able.map(([keyType]) => keyType),
      ['admin'],
    );
  });

  describe('input of create_organization', () => {
    const of = inputOf(createOrganization, input);
    of.required('name');
    of.text('name', { min: 1, max: 200 });
    of.required('partner');
    of.boolean('partner');
    of.ignoresUnknown();
  });
});
