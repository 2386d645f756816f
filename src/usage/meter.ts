import type { Tenant } from '#domain/shared/access.ts';
import { upcasters } from '#domain/shared/upcasters.ts';
import type { UnsealedMetadata } from '#event-store/hash-chain.ts';
import { newestVersion } from '#event-store/recorded-event.ts';

/** The actor of usage events: the service itself. */
const meterActor = { keyId: 'system', keyType: 'system' } as const;

/** Usage events belong to no tenant, because each of their entries has its own tenant. */
const meterTenant: Tenant = { organizationId: 'system', projectId: null, partnerId: null };

/** The metadata of a new usage event, which has no other cause. */
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
