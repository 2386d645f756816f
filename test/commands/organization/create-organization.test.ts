import assert from 'node:assert/strict';
import { createOrganization } from '#commands/organization/create-organization.ts';
import { scopesOfKeyType } from '#domain/shared/scope.ts';
import { organizationCreated } from '#test/support/events/tenant-events.ts';
import { fresh } from '#test/support/events/tenants.ts';
import { inputOf } from '#test/support/harness/arbitrary-input.ts';
import { givenHistory } from '#test/support/harness/command-harness.ts';

const input = { name: 'Northwind Voice', partner: true };

describe('create_organization', () => {
  it('creates one, a partner or not', () => {
    givenHistory().when(createOrganization, input).then(organizationCreated(fresh.id, true));
    givenHistory()
      .when(createOrganization, { ...input, partner: false })
      .then(organizationCreated(fresh.id, false));
  });

  it('is its own tenant, and its own partner where it is one', () => {
    const tenant = (partner: boolean) => createOrganization.tenant?.({ ...input, partner }, { fresh } as never);
    assert.deepEqual(tenant(true), { organizationId: fresh.id, projectId: null, partnerId: fresh.id });
    assert.deepEqual(tenant(false), { organizationId: fresh.id, projectId: null, partnerId: null });
  });

  it('needs a scope that admin keys alone can have', () => {
    const able = Object.entries(scopesOfKeyType).filter(([, scopes]) => scopes.has(createOrganization.scope));
    assert.deepEqual(
      able.map(([keyType]) => keyType),
      ['admin'],
    );
  });

  describe('input', () => {
    const of = inputOf(createOrganization, input);
    of.required('name');
    of.text('name', { min: 1, max: 200 });
    of.required('partner');
    of.boolean('partner');
    of.ignoresUnknown();
  });
});
