import type { KeyType } from './tenancy.ts';

/** What scopes narrow: each of these resources has `:read` and `:write`. */
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

/** What is only read. */
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

/** What each type of key may do at most; a key made without scopes has all of it. */
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
 * Whether resources of a scope are concealed from a type of key: only partners and operators may know of templates. For
 * every other key, also one of the same organization, a template is 404.
 */
export function isConcealedFor(keyType: KeyType, scope: Scope | null): boolean {
  return scope?.startsWith('templates:') === true && !scopesOfKeyType[keyType].has(scope);
}

/** What a key may do now. @param scopes as recorded: null for all of its type */
export function effectiveScopes(keyType: KeyType, scopes: ReadonlyArray<string> | null): ReadonlySet<string> {
  return scopes === null ? scopesOfKeyType[keyType] : new Set(scopes);
}
