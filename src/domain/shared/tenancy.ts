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
