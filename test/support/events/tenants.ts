import type { NewIds } from '#application/commands/new-ids.ts';
import { type Scope, scopesOfKeyType } from '#domain/shared/scope.ts';
import type { Caller, KeyType, Tenant } from '#domain/shared/tenancy.ts';

/** The ids of the story that the tests tell: two projects of one partner, one of a customer, one of a stranger. */
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
  profile: 'cprojectone00001profile1',
  otherProfile: 'cprojectone00001profile2',
  siblingProfile: 'cprojecttwo00001profile1',
} as const;

/** What new resources are called in decisions under test. */
export const fresh: NewIds = { id: 'cfreshone0000001', secondId: 'cfreshtwo0000001', suffix: 'fresh001' };

/** Whose the streams of a project are. */
export const tenants = {
  project: { organizationId: ids.partner, projectId: ids.project, partnerId: ids.partner },
  sibling: { organizationId: ids.partner, projectId: ids.sibling, partnerId: ids.partner },
  customer: { organizationId: ids.customer, projectId: ids.customerProject, partnerId: ids.partner },
  stranger: { organizationId: ids.stranger, projectId: ids.strangerProject, partnerId: null },
} as const satisfies Record<string, Tenant>;

/**
 * The holder of a key whose home is the first project.
 * @param scopes absent: all that the type can have
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
