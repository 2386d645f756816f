import type { Tenant } from '#domain/shared/tenancy.ts';
import type { UsageEntry } from '#domain/usage/events.ts';

/**
 * What usage is summed up by: whose calls, and of them which. `key/model/target` are the rows that all others are sums
 * of; sums for an operator, a partner, an organization and a project are kept so that nobody has to add up rows of
 * thousands of keys to draw a curve.
 */
export type Rollup =
  | 'all'
  | 'all/model'
  | 'all/target'
  | 'all/model/target'
  | 'partner'
  | 'partner/model'
  | 'organization'
  | 'organization/model'
  | 'project'
  | 'project/model'
  | 'key'
  | 'key/model/target';

/** One sum of a rollup: its members that are null are added up over. */
export interface UsageGroup {
  readonly rollup: Rollup;
  /** Unlike that of any other group. */
  readonly series: string;
  readonly organizationId: string | null;
  readonly projectId: string | null;
  readonly partnerId: string | null;
  readonly keyId: string | null;
  readonly model: string | null;
  /** `provider/model`; null as well for calls that came to none. */
  readonly target: string | null;
}

type Named = Partial<Omit<UsageGroup, 'rollup' | 'series'>>;

const nothing = { organizationId: null, projectId: null, partnerId: null, keyId: null, model: null, target: null };

/** The series of a group. @param ids what it is of: ids, the model, the target */
export function seriesOf(rollup: Rollup, ...ids: ReadonlyArray<string | null>): string {
  return [rollup, ...ids.map((id) => id ?? '')].join('\n');
}

/** The row that an entry counts in: of one key, model and target. */
export function rowOf({ keyId, model, target, ...entry }: UsageEntry): UsageGroup {
  return group('key/model/target', [keyId, model, target], { ...tenantOf(entry), keyId, model, target });
}

/** The sums that an entry counts in, its row not included. */
export function rollupsOf(entry: UsageEntry): ReadonlyArray<UsageGroup> {
  const { keyId, model, target } = entry;
  const tenant = tenantOf(entry);
  return [
    group('all', [], {}),
    group('all/model', [model], { model }),
    group('all/target', [target], { target }),
    group('all/model/target', [model, target], { model, target }),
    ...ofPartner(tenant, model),
    ...ofOrganization(tenant, model),
    ...ofProject(tenant, model),
    group('key', [keyId], { ...tenant, keyId }),
  ];
}

type NullableTenant = { readonly [member in keyof Tenant]: string | null };

function tenantOf({ organizationId, projectId, partnerId }: NullableTenant): NullableTenant {
  return { organizationId, projectId, partnerId };
}

function ofPartner({ partnerId }: NullableTenant, model: string): ReadonlyArray<UsageGroup> {
  if (partnerId === null) return [];
  return [
    group('partner', [partnerId], { partnerId }),
    group('partner/model', [partnerId, model], { partnerId, model }),
  ];
}

function ofOrganization({ organizationId, partnerId }: NullableTenant, model: string): ReadonlyArray<UsageGroup> {
  if (organizationId === null) return [];
  return [
    group('organization', [organizationId], { organizationId, partnerId }),
    group('organization/model', [organizationId, model], { organizationId, partnerId, model }),
  ];
}

function ofProject(tenant: NullableTenant, model: string): ReadonlyArray<UsageGroup> {
  const { projectId } = tenant;
  if (projectId === null) return [];
  return [group('project', [projectId], tenant), group('project/model', [projectId, model], { ...tenant, model })];
}

function group(rollup: Rollup, ids: ReadonlyArray<string | null>, named: Named): UsageGroup {
  return { rollup, series: seriesOf(rollup, ...ids), ...nothing, ...named };
}
