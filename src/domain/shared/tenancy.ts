/** Whose a stream is. Its first event carries it, and every later one repeats it. */
export interface Tenant {
  readonly organizationId: string;
  /** Null for what belongs to an organization as a whole. */
  readonly projectId: string | null;
  /** The partner that reaches it: the organization itself where it is a partner, its owner where it is a customer. */
  readonly partnerId: string | null;
}

export type KeyType = 'admin' | 'partner' | 'organization' | 'project';

/** Whose resources someone may see: what a key of this type, organization and project has access to. */
export type Audience = Pick<Caller, 'keyType' | 'organizationId' | 'projectId'>;

/** The holder of a presented key. */
export interface Caller {
  readonly keyId: string;
  readonly keyType: KeyType;
  readonly projectId: string;
  readonly organizationId: string;
  readonly partnerId: string | null;
  /** What it may do now. */
  readonly scopes: ReadonlySet<string>;
  /** Its scopes were never narrowed: it has all of its type, those added later too. */
  readonly hasAllScopes: boolean;
}

/**
 * Whether a caller's key reaches what belongs to a tenant (DECISIONS.md, "Tenancy and keys"). What it does not reach
 * answers like what does not exist.
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
