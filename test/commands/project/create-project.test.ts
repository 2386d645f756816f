import assert from 'node:assert/strict';
import { createProject } from '#commands/project/create-project.ts';
import { organization } from '#domain/organization/organization.ts';
import type { Tenant } from '#domain/shared/access.ts';
import { organizationCreated, projectCreated } from '#test/support/events/tenant-events.ts';
import { callerOf, ids, newIds } from '#test/support/events/tenants.ts';
import { inputOf } from '#test/support/harness/arbitrary-input.ts';
import { givenHistory } from '#test/support/harness/command-harness.ts';
import { stateOf } from '#test/support/harness/recorded-events.ts';

const input = { name: 'Front desk' };
const organizationOf = (tenant: Tenant) => ({
  state: stateOf(organization, organizationCreated(tenant.organizationId)),
  tenant,
});
const own = organizationOf({ organizationId: ids.partner, projectId: null, partnerId: ids.partner });
const customers = organizationOf({ organizationId: ids.customer, projectId: null, partnerId: ids.partner });
const strangers = organizationOf({ organizationId: ids.stranger, projectId: null, partnerId: null });
const unknown = { state: null, tenant: null };

describe('create_project', () => {
  const allowed = [
    ['admin', 'its own', own],
    ['admin', "a customer's", customers],
    ['admin', "a stranger's", strangers],
    ['partner', 'its own', own],
    ['partner', "a customer's", customers],
    ['organization', 'its own', own],
  ] as const;
  for (const [keyType, whose, related] of allowed) {
    it(`allows a key of type ${keyType} to create a project in ${whose} organization`, () => {
      const organizationId = related.tenant.organizationId;
      givenHistory()
        .when(createProject, { ...input, organizationId }, { caller: callerOf(keyType), related })
        .then(projectCreated(newIds.id, organizationId));
    });
  }

  const refused = [
    ['partner', "a stranger's", strangers],
    ['organization', "a customer's", customers],
    ['organization', "a stranger's", strangers],
    ['admin', 'an unknown', unknown],
    ['organization', 'an unknown', unknown],
  ] as const;
  for (const [keyType, whose, related] of refused) {
    it(`refuses ${whose} organization to a key of type ${keyType} with 404`, () => {
      givenHistory()
        .when(createProject, { ...input, organizationId: ids.stranger }, { caller: callerOf(keyType), related })
        .then('organization-not-found');
    });
  }

  it('loads the key’s own organization when the input names none', async () => {
    const asked: unknown[] = [];
    const load = async (_: unknown, id: string) => {
      asked.push(id);
      return own as never;
    };
    const loads = {
      load,
      seal: () => Promise.reject(new Error('nothing is sealed')),
      newSecrets: { apiKey: '', webhookSecret: '' },
      dataAt: () => Promise.reject(new Error('no event is needed')),
      lookup: {
        exists: async () => false,
        projection: async () => null,
        batchesRun: async () => true,
        webhookUrlFault: async () => null,
        webhookTries: () => null,
        process: async () => null,
        failureAt: async () => null,
        keyLastUsed: async () => null,
        descendantKeys: async () => [],
      },
    };
    await createProject.loadRelated?.(input, loads, callerOf('organization'), null);
    await createProject.loadRelated?.({ ...input, organizationId: ids.customer }, loads, callerOf('partner'), null);
    assert.deepEqual(asked, [ids.partner, ids.customer]);
  });

  it('puts a project under its organization and that organization’s partner', () => {
    const tenant = (related: typeof own) => createProject.creates?.tenant?.(input, { related, newIds } as never);
    assert.deepEqual(tenant(own), { organizationId: ids.partner, projectId: newIds.id, partnerId: ids.partner });
    assert.deepEqual(tenant(customers), { organizationId: ids.customer, projectId: newIds.id, partnerId: ids.partner });
    assert.deepEqual(tenant(strangers), { organizationId: ids.stranger, projectId: newIds.id, partnerId: null });
  });

  describe('input of create_project', () => {
    const of = inputOf(createProject, input);
    of.required('name');
    of.text('name', { min: 1, max: 200 });
    of.optional('organizationId', undefined);
    of.id('organizationId');
    of.ignoresUnknown();
  });
});
