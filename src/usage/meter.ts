import type { Tenant } from '#domain/shared/tenancy.ts';

/** Who records usage: the service itself. */
export const meterActor = { keyId: 'system', keyType: 'system' } as const;

/** Events of usage are of many tenants together, and so of none: each of their entries has its own. */
export const meterTenant: Tenant = { organizationId: 'system', projectId: null, partnerId: null };
