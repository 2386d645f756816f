import type { KeyType } from '#domain/shared/access.ts';

/**
 * The scopes of the releases in which every key had a list of scopes. Must never change, because old events depend on
 * it.
 */
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

/**
 * An old key with every scope of its type was created without `scopes`, so it also has the scopes of later releases.
 */
export function withMakerOfKey(data: object): object {
  const { keyType, scopes } = data as CreatedThen;
  const hadAll = new Set(scopes).size === scopesThen[keyType].size && scopes.every((s) => scopesThen[keyType].has(s));
  return { ...data, scopes: hadAll ? null : scopes, createdByKeyId: null, expiresAt: null };
}

/** Old events did not record the rotating key, and keys did not expire. */
export function withRotatorOfKey(data: object): object {
  return { ...data, rotatedByKeyId: null, expiresAt: null };
}

/** In old events a key was always revoked alone. */
export function withDescendantsOfKey(data: object): object {
  return { ...data, descendantKeyIds: null };
}
