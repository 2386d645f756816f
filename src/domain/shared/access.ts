import { type Failure, type FailureCode, failure } from './failure.ts';

/** The owner of a stream, which every one of its events has. */
export interface Tenant {
  readonly organizationId: string;
  /** The project; null for resources of a whole organization. */
  readonly projectId: string | null;
  /** The partner that has access: the organization itself if it is a partner, its owner if it is a customer. */
  readonly partnerId: string | null;
}

/** The type of a key, which decides the tenants that it has access to. */
export type KeyType = 'admin' | 'partner' | 'organization' | 'project';

/** Who has access to the resources of this organization and project. */
export type Audience = Pick<Caller, 'keyType' | 'organizationId' | 'projectId'>;

export interface Caller {
  readonly keyId: string;
  readonly keyType: KeyType;
  readonly projectId: string;
  readonly organizationId: string;
  readonly partnerId: string | null;
  readonly scopes: ReadonlySet<string>;
  /** True for a key with all scopes, including those of later releases. */
  readonly hasAllScopes: boolean;
}

/** To a caller without access, a resource looks as if it did not exist. */
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

/** Resources of which each has `:read` and `:write`. */
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

/** Scopes with `:read` only. */
const readOnly = ['usage:read', 'dashboard:read'] as const;

export type Scope =
  | `${(typeof resources)[number]}:${'read' | 'write'}`
  | (typeof readOnly)[number]
  | 'operations:write';

const all: ReadonlyArray<Scope> = [
  ...resources.flatMap((resource) => [`${resource}:read`, `${resource}:write`] as const),
  ...readOnly,
];

export const scopes: ReadonlyArray<Scope> = [...all, 'operations:write'];

const except = (...left: ReadonlyArray<Scope>) => all.filter((scope) => !left.includes(scope));

/** The scopes of each type. A key that is created without scopes has all of them. */
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

/** Only partners and operators may know of templates: every other key gets 404, even one of the same organization. */
export function isConcealedFor(keyType: KeyType, scope: Scope | null): boolean {
  return scope?.startsWith('templates:') === true && !scopesOfKeyType[keyType].has(scope);
}

/** @param scopes as recorded; null for all of its type */
export function effectiveScopes(keyType: KeyType, scopes: ReadonlyArray<string> | null): ReadonlySet<string> {
  return scopes === null ? scopesOfKeyType[keyType] : new Set(scopes);
}

export function checkScopes(caller: Caller, { scope, alsoScope }: NeededScopes): Failure | null {
  return checkScope(caller, scope) ?? checkScope(caller, alsoScope ?? null);
}

interface NeededScopes {
  readonly scope: Scope | null;
  readonly alsoScope?: Scope;
}

function checkScope(caller: Caller, scope: Scope | null): Failure | null {
  if (scope === null || caller.scopes.has(scope)) return null;
  if (!scopesOfKeyType[caller.keyType].has(scope)) {
    return failure('key-type-not-allowed', `This needs the scope ${scope}, which no ${caller.keyType} key can have.`);
  }
  return failure('scope-required', `This needs the scope ${scope}. Use a key that has it.`);
}

/**
 * The failure is the same for a resource that the key cannot access, so that the answer does not show whether the
 * resource exists.
 * @param code names the kind: `flow-version-not-found` is about a flow version
 */
export function notFound(code: FailureCode, id: string): Failure {
  const kind = code.replace('-not-found', '').replaceAll('-', ' ');
  return failure(code, `There is no ${kind} ${id} that this key can access.`);
}
