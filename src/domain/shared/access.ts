import { type Failure, type FailureCode, failure } from './failure.ts';

/** The owner of a stream. Every event of the stream has it. */
export interface Tenant {
  readonly organizationId: string;
  /** Null for resources of a whole organization. */
  readonly projectId: string | null;
  /** The partner with access: the organization itself if it is a partner, its owner if it is a customer. */
  readonly partnerId: string | null;
}

/** The type of an API key, which decides the tenants that it has access to. */
export type KeyType = 'admin' | 'partner' | 'organization' | 'project';

/** The resources that a key of this type, organization and project has access to. */
export type Audience = Pick<Caller, 'keyType' | 'organizationId' | 'projectId'>;

/** The holder of a presented key. */
export interface Caller {
  readonly keyId: string;
  readonly keyType: KeyType;
  readonly projectId: string;
  readonly organizationId: string;
  readonly partnerId: string | null;
  /** Its current scopes. */
  readonly scopes: ReadonlySet<string>;
  /** Whether it has all scopes of its type, including scopes of later releases. */
  readonly hasAllScopes: boolean;
}

/**
 * Whether a caller's key has access to a tenant's resources. To a caller without access, a resource looks as if it did
 * not exist.
 */
export function canAccess(caller: Audience, tenant: Tenant): boolean {
  switch (caller.keyType) {
    case 'admin':
      return true;
    case 'partner':
      return tenant.partnerId === caller.organizationId;
    case 'organization':
      return tenant.organizationId === caller.organizationId;
    case 'project':
      return tenant.projectId === caller.projectId;
  }
}

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

/** Returns why a key may not call an operation; null if it may. */
export function checkScopes(caller: Caller, { scope, alsoScope }: NeededScopes): Failure | null {
  return checkScope(caller, scope) ?? checkScope(caller, alsoScope ?? null);
}

/** The scopes that an operation needs. */
interface NeededScopes {
  readonly scope: Scope | null;
  readonly alsoScope?: Scope;
}

/** Returns a refusal if a key lacks a scope; null if it has it. */
function checkScope(caller: Caller, scope: Scope | null): Failure | null {
  if (scope === null || caller.scopes.has(scope)) return null;
  if (!scopesOfKeyType[caller.keyType].has(scope)) {
    return failure('key-type-not-allowed', `This needs the scope ${scope}, which no ${caller.keyType} key can have.`);
  }
  return failure('scope-required', `This needs the scope ${scope}. Use a key that has it.`);
}

/**
 * Makes the refusal for a resource that does not exist. It is the same for a resource that the key cannot access, so
 * that the answer does not show whether the resource exists.
 * @param code names the kind: `flow-version-not-found` is about a flow version
 */
export function notFound(code: FailureCode, id: string): Failure {
  const kind = code.replace('-not-found', '').replaceAll('-', ' ');
  return failure(code, `There is no ${kind} ${id} that this key can access.`);
}
