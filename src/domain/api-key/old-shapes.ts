import type { KeyType } from '#domain/shared/tenancy.ts';

/** The scopes that there were when keys had lists of scopes alone. Never changed: it says what old events mean. */
const resourcesThen = [
  'flows',
  'phone-numbers',
  'agent-profiles',
  'templates',
  'instances',
  'customers',
  'projects',
  'keys',
  'audit',
  'gateway',
  'files',
  'batches',
  'stores',
];
const allThen = resourcesThen.flatMap((resource) => [`${resource}:read`, `${resource}:write`]);
const notOfOrganizations = [
  'templates:read',
  'templates:write',
  'instances:write',
  'customers:read',
  'customers:write',
];
const without = (left: ReadonlyArray<string>) => new Set(allThen.filter((scope) => !left.includes(scope)));

const scopesThen: Readonly<Record<KeyType, ReadonlySet<string>>> = {
  admin: new Set([...allThen, 'operations:write']),
  partner: new Set(allThen),
  organization: without(notOfOrganizations),
  project: without([...notOfOrganizations, 'projects:write']),
};

interface CreatedThen {
  readonly keyType: KeyType;
  readonly scopes: ReadonlyArray<string>;
}

/** A key with every scope that its type could have then was made without `scopes`: it has those added since, too. */
export function withMakerOfKey(data: object): object {
  const { keyType, scopes } = data as CreatedThen;
  const hadAll = new Set(scopes).size === scopesThen[keyType].size && scopes.every((s) => scopesThen[keyType].has(s));
  return { ...data, scopes: hadAll ? null : scopes, createdByKeyId: null, expiresAt: null };
}

/** Which key rotated it was not recorded, and no key ended by itself. */
export function withRotatorOfKey(data: object): object {
  return { ...data, rotatedByKeyId: null, expiresAt: null };
}

/** Keys were revoked one by one. */
export function withDescendantsOfKey(data: object): object {
  return { ...data, descendantKeyIds: null };
}
