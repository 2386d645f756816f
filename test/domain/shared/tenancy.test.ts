import assert from 'node:assert/strict';
import { canAccess } from '#domain/shared/access.ts';
import { callerOf, ids, tenants } from '#test/support/events/tenants.ts';

const whole = (organizationId: string, partnerId: string | null) => ({ organizationId, projectId: null, partnerId });
const places = {
  ...tenants,
  'own organization': whole(ids.partner, ids.partner),
  "customer's organization": whole(ids.customer, ids.partner),
  "stranger's organization": whole(ids.stranger, null),
};

describe('canAccess', () => {
  const reached = {
    admin: Object.keys(places),
    partner: ['project', 'sibling', 'customer', 'own organization', "customer's organization"],
    organization: ['project', 'sibling', 'own organization'],
    project: ['project'],
  } as const;
  for (const keyType of ['admin', 'partner', 'organization', 'project'] as const) {
    it(`limits a key of type ${keyType} to its tenants`, () => {
      const found = Object.entries(places).filter(([, tenant]) => canAccess(callerOf(keyType), tenant));
      assert.deepEqual(
        found.map(([name]) => name),
        reached[keyType],
      );
    });
  }
});
