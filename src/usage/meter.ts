import type { Tenant } from '#domain/shared/tenancy.ts';
import { upcasters } from '#domain/shared/upcasters.ts';
import type { UnsealedMetadata } from '#event-store/hash-chain.ts';
import { newestVersion } from '#event-store/upcasting.ts';

/** Who records usage: the service itself. */
const meterActor = { keyId: 'system', keyType: 'system' } as const;

/** Events of usage are of many tenants together, and so of none: each of their entries has its own. */
const meterTenant: Tenant = { organizationId: 'system', projectId: null, partnerId: null };

/** The metadata of a new event of usage, which nothing but itself caused. */
export function usageMetadata(id: string, type: string, time: string): UnsealedMetadata {
  return {
    $correlationId: id,
    $causationId: id,
    actor: meterActor,
    ...meterTenant,
    requestId: id,
    time,
    schemaVersion: newestVersion(upcasters, type),
  };
}
