import type { KeyType } from './tenancy.ts';

/** The resources of scopes: each has `:read` and `:write`. */
const resources = [
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
  'webhooks',
] as const;

/** Resources with `:read` only. */
const readOnly = ['usage:read', 'dashboard:read'] as const;

/** A scope that a key can be given. */
export type Scope =
  | `${(typeof resources)[number]}:${'read' | 'write'}`
  | (typeof readOnly)[number]
  | 'operations:write';

const all: ReadonlyArray<Scope> = [
  ...resources.flatMap((resource) => [`${resource}:read`, `${resource}:write`] as const),
  ...readOnly,
];

/** Every scope there is. */
export const scopes: ReadonlyArray<Scope> = [...all, 'operations:write'];

const except = (...left: ReadonlyArray<Scope>) => all.filter((scope) => !left.includes(scope));

/** All scopes of each key type. A key that is created without scopes has all of them. */
export const scopesOfKeyType: Readonly<Record<KeyType, ReadonlySet<Scope>>> = {
  admin: new Set(scopes),
  partner: new Set(all),
  organization: new Set(
    except('templates:read', 'templates:write', 'instances:write', 'customers:read', 'customers:write'),
  ),
  project: new Set(
    except(
      'templates:read',
      'templates:write',
      'instances:write',
      'customers:read',
      'customers:write',
      'projects:write',
    ),
  ),
};

/**
 * Whether resources of a scope are concealed from a type of key. Only partners and operators may know of templates:
 * every other key gets 404, even one of the same organization.
 */
export function isConcealedFor(keyType: KeyType, scope: Scope | null): boolean {
  return scope?.startsWith('templates:') === true && !scopesOfKeyType[keyType].has(scope);
}

/**
 * The current scopes of a key.
 * @param scopes the recorded scopes; null for all of its type
 */
export function effectiveScopes(keyType: KeyType, scopes: ReadonlyArray<string> | null): ReadonlySet<string> {
  return scopes === null ? scopesOfKeyType[keyType] : new Set(scopes);
}
