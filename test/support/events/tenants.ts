import type { NewIds } from '#application/commands/new-values.ts';
import { type Caller, type KeyType, type Scope, scopesOfKeyType, type Tenant } from '#domain/shared/access.ts';

/** The ids of the examples: two projects of a partner, one of its customer, and one of an unrelated organization. */
export const ids = {
  partner: 'corgpartner00001',
  customer: 'corgcustomer0001',
  stranger: 'corgstranger0001',
  project: 'cprojectone00001',
  sibling: 'cprojecttwo00001',
  customerProject: 'cprojectcust0001',
  strangerProject: 'cprojectstra0001',
  flow: 'cflowone00000001',
  otherFlow: 'cflowtwo00000001',
  number: 'cnumberone000001',
  otherNumber: 'cnumbertwo000001',
  template: 'ctemplateone0001',
  instance: 'cinstanceone0001',
  key: 'ckeyone000000001',
  store: 'cstoreone0000001',
  webhookEndpoint: 'cwebhookone00001',
  profile: 'cprojectone00001profile1',
  otherProfile: 'cprojectone00001profile2',
  siblingProfile: 'cprojecttwo00001profile1',
} as const;

/** The ids of new resources in tests of decisions. */
export const newIds: NewIds = { id: 'cfreshone0000001', secondId: 'cfreshtwo0000001', suffix: 'fresh001' };

/** The tenants of the example projects. */
export const tenants = {
  project: { organizationId: ids.partner, projectId: ids.project, partnerId: ids.partner },
  sibling: { organizationId: ids.partner, projectId: ids.sibling, partnerId: ids.partner },
  customer: { organizationId: ids.customer, projectId: ids.customerProject, partnerId: ids.partner },
  stranger: { organizationId: ids.stranger, projectId: ids.strangerProject, partnerId: null },
} as const satisfies Record<string, Tenant>;

/**
 * Returns a caller whose key belongs to the first example project.
 * @param scopes default: all that the key type can have
 */
export function callerOf(
  keyType: KeyType,
  { scopes, ...more }: Partial<Omit<Caller, 'scopes'>> & { scopes?: Iterable<Scope> } = {},
): Caller {
  return {
    keyId: `ckey${keyType.padEnd(12, '0')}`,
    keyType,
    ...tenants.project,
    scopes: new Set(scopes ?? scopesOfKeyType[keyType]),
    hasAllScopes: scopes === undefined,
    ...more,
  };
}
