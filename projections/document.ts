import type { EventMetadata } from '#domain/event.ts';
import type { Tenant } from '#domain/tenancy.ts';

/** What most documents are: a record as it is given out, whose it is, and the revision for its ETag. */
export interface TenantDocument<Record> extends Tenant {
  readonly record: Record;
  readonly revision: number;
}

/** Whose an event's stream is. */
export function tenantOf({ organizationId, projectId, partnerId }: EventMetadata): Tenant {
  return { organizationId, projectId, partnerId };
}

/** The key in a stream's name: the id of what lives there. */
export function streamKey(stream: string): string {
  return stream.slice(stream.indexOf('-') + 1);
}
