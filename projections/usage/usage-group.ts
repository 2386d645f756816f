import type { Tenant } from '#domain/shared/access.ts';
import type { UsageEntry } from '#domain/usage/events.ts';

/**
 * The groups by which usage is summed up: the owner of the calls, and a selection of them. `row` is of one key, model,
 * target and endpoint; all other groups are sums of rows. There are sums for the operator, partners, organizations and projects, so
 * that a chart needs no addition of rows of thousands of keys.
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
  | 'row'
  /** Not a sum, but the document with the owner of a key. */
  | 'owner';

/** What a document counts. It adds up over the members that are null. */
export interface UsageGroup {
  readonly rollup: Rollup;
  /** Unique for the group. */
  readonly series: string;
  readonly organizationId: string | null;
  readonly projectId: string | null;
  readonly partnerId: string | null;
  readonly keyId: string | null;
  readonly model: string | null;
  /** `provider/model`; null also for calls without a target. */
  readonly target: string | null;
  /** Only for a row: what was called, `chat`, `messages`, `embeddings`, `speech` or `transcription`. */
  readonly endpoint?: string;
}

type Named = Partial<Omit<UsageGroup, 'rollup' | 'series'>>;

const nothing = { organizationId: null, projectId: null, partnerId: null, keyId: null, model: null, target: null };

/** @param ids the ids, the model and the target of the group */
export function seriesOf(rollup: Rollup, ...ids: ReadonlyArray<string | null>): string {
  return [rollup, ...ids.map((id) => id ?? '')].join('\n');
}

export function rowOf({ keyId, model, target, operation, ...entry }: UsageEntry): UsageGroup {
  const named = { ...knownTenantOf(entry), keyId, model, target, endpoint: operation };
  return group('row', [keyId, model, target, operation], named);
}

/** The group of the document with a key's owner. */
export function ownerGroup(keyId: string, tenant: NullableTenant): UsageGroup {
  return group('owner', [keyId], { ...tenant, keyId });
}

/** The sums that include the entry, without its row. */
export function rollupsOf(entry: UsageEntry): ReadonlyArray<UsageGroup> {
  const { keyId, model, target } = entry;
  const tenant = knownTenantOf(entry);
  const ofOwner =
    tenant.organizationId === null
      ? ofUnknownOwner(keyId, model)
      : [...ofPartner(tenant, model), ...ofOrganization(tenant, model), ...ofProject(tenant, model)];
  return [
    group('all', [], {}),
    group('all/model', [model], { model }),
    group('all/target', [target], { target }),
    group('all/model/target', [model, target], { model, target }),
    ...ofOwner,
    group('key', [keyId], { ...tenant, keyId }),
  ];
}

/**
 * Groups for a key whose events do not name the owner. Each key has sums of its own, whose series name the key, and
 * `withOwner` completes them. A reader adds them to the owner's other sums.
 */
function ofUnknownOwner(keyId: string, model: string): ReadonlyArray<UsageGroup> {
  return (['partner', 'organization', 'project'] as const).flatMap((kind) => [
    group(kind, [null, keyId], {}),
    group(`${kind}/model`, [null, model, keyId], { model }),
  ]);
}

/** Null for a group that the owner does not have. */
export function withOwner(sum: UsageGroup, owner: NullableTenant): UsageGroup | null {
  const { organizationId, projectId, partnerId } = owner;
  switch (sum.rollup) {
    case 'partner':
    case 'partner/model':
      return partnerId === null ? null : { ...sum, partnerId };
    case 'organization':
    case 'organization/model':
      return organizationId === null ? null : { ...sum, organizationId, partnerId };
    case 'project':
    case 'project/model':
      return projectId === null ? null : { ...sum, organizationId, projectId, partnerId };
    default:
      return { ...sum, organizationId, projectId, partnerId };
  }
}

/** A tenant as far as it is known. */
export type NullableTenant = { readonly [member in keyof Tenant]: string | null };

export function knownTenantOf({ organizationId, projectId, partnerId }: NullableTenant): NullableTenant {
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
